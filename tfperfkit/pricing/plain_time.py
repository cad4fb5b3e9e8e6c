"""Time that a recorded run takes beyond a plain one, because steps and iterations are slower while a window is open.

Predictions are about the script without tfperf. The time that a window adds is known from the steps inside:
their time less that of as many clean ones.
"""

from __future__ import annotations

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.records.steps import StepTable

SLOWED = Threshold(
    1.15,
    "number",
    "times as long: work without iterations while a window is open, over the same without",
    Measured(
        "traced steps of five scripts took 1.03 to 1.62 times as long, median 1.14; timed line by line 0.82 to 1.35",
        "two quiet cores of an AMD EPYC, TensorFlow 2.21",
        5,
    ),
)
#: Windows of steps that are no window of a probe.
_NOT_SLOWED = ("clean", "warmup", "settle")


def added_by_windows_s(steps: StepTable, spent_s: float | None = None) -> float:
    """Return the seconds that open windows added to steps or iterations.

    ``spent_s``: the seconds of all of a work; None for training steps. If its iterations are not known, its table holds
    the stretches without windows, and the rest of it is taken as ``SLOWED``.
    """
    clean_ns, count = sum(step.end_ns - step.begin_ns for step in steps.clean), sum(step.count for step in steps.clean)
    # A window that opened before the steps were steady holds steps that trace.
    steady_ns = min((step.begin_ns for step in steps.clean), default=0)
    inside = [step for step in steps.steps if step.window not in _NOT_SLOWED and step.begin_ns >= steady_ns]
    if inside and count:
        added = sum(step.end_ns - step.begin_ns for step in inside) - clean_ns / count * sum(s.count for s in inside)
        return max(added, 0.0) / NS_PER_S
    if inside or spent_s is None or count > 1:
        return 0.0
    return max(spent_s - clean_ns / NS_PER_S, 0.0) * (1 - 1 / SLOWED.value)
