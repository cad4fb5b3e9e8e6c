"""Time that a recorded run takes beyond a plain one, because the script is slower while a window is open.

Predictions are about the script without tfperf. The time that a window adds is known from the steps or iterations
inside: their time less that of as many clean ones. Without iterations it is estimated from the samples in the window.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.records.samples import SampleLog
from tfperfkit.records.steps import StepTable

_MACHINE = "two cores of an AMD EPYC, processor seconds of the script's thread, Python 3.11, TensorFlow 2.21"
SLOWED = Threshold(
    1.15,
    "number",
    "times as long: the script while a trace is recorded, over the same without",
    Measured(
        "traced steps of five scripts took 1.03 to 1.62 times as long, median 1.14; timed line by line 0.82 to 1.35",
        "two quiet cores of an AMD EPYC, TensorFlow 2.21",
        5,
    ),
)
BY_LINE = Threshold(
    2.0,
    "number",
    "times as long: Python and eager operations while lines are timed with a trace function, over the same without",
    Measured("two eager loops took 1.67 to 2.18 times as long, a loop of plain Python 4.1 to 4.6 times", _MACHINE, 3),
)
TRACED_BY_LINE = Threshold(
    1.5,
    "number",
    "times as long: tracing a function while lines are timed with a trace function, over the same without",
    Measured("functions of 3 and 330 operations took 1.2 to 1.7 times as long", _MACHINE, 2),
)
OPERATIONS_TOLD = Threshold(
    1.25,
    "number",
    "times as long: eager operations while each is recorded or told to a callback, over the same without",
    Measured("two eager loops took 1.10 to 1.42 times as long with a trace, 1.15 to 1.48 with a callback", _MACHINE, 4),
)
_EAGER = ("dispatch", "eager_ops", "host_sync")
#: Times as long, for each claim of a probe, by what was sampled; "" for all else.
_SLOWED: dict[str, dict[str, float]] = {
    "sys.settrace": {**dict.fromkeys(("python", *_EAGER), BY_LINE.value), "tracing": TRACED_BY_LINE.value, "": 1.0},
    "tf.profiler": {**dict.fromkeys(_EAGER, OPERATIONS_TOLD.value), "": SLOWED.value},
}
#: The same of a probe without such a claim, whose window is for callbacks of eager operations.
_TOLD = {**dict.fromkeys(_EAGER, OPERATIONS_TOLD.value), "": 1.0}
#: Windows of steps that are no window of a probe.
_NOT_SLOWED = ("clean", "warmup", "settle")


def added_by_windows_s(steps: StepTable) -> float:
    """Return the seconds that open windows added to steps or iterations; 0 where no window holds a step."""
    clean_ns, count = sum(step.end_ns - step.begin_ns for step in steps.clean), sum(step.count for step in steps.clean)
    # A window that opened before the steps were steady holds steps that trace.
    steady_ns = min((step.begin_ns for step in steps.clean), default=0)
    inside = [step for step in steps.steps if step.window not in _NOT_SLOWED and step.begin_ns >= steady_ns]
    if not inside or not count:
        return 0.0
    added = sum(step.end_ns - step.begin_ns for step in inside) - clean_ns / count * sum(s.count for s in inside)
    return max(added, 0.0) / NS_PER_S


def share_added_by_windows(log: SampleLog, windows: Iterable[tuple[int, int, Collection[str]]]) -> float:
    """Return the share (0 to 1) of the time of a log's samples that open windows added, for work without iterations.

    ``windows``: (begin in ns, end in ns, claims of the probe).
    """
    every = sum(log.pause(when) for when, _ in log.inside(log.whole))
    added = 0.0
    for begin, end, claims in windows:
        slowed = next((_SLOWED[claim] for claim in sorted(claims) if claim in _SLOWED), _TOLD)
        for when, stack in log.inside([(begin, end)]):
            added += log.pause(when) * (1 - 1 / slowed.get(stack.activity, slowed[""]))
    return min(added / every, 1.0) if every else 0.0
