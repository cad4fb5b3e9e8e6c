"""The time that the pipeline's Python takes from the training thread: only one thread at a time has the interpreter's
lock.
"""

from __future__ import annotations

import msgspec
from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold
from tfperfkit.model import Measurement
from tfperfkit.pricing import costs
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import PartName
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared

LOCK_MIN_PYTHON = Threshold(
    0.3,
    "share",
    "minimum share of the step in TensorFlow's Python on the training thread, for a wait for the GIL",
    Chosen("clearly more than the Python of a call (LOCK_MIN_MS)"),
)
LOCK_MIN_MS = Threshold(
    2 * costs.FUNCTION_CALL_MAX_MS.value,
    "ms",
    "minimum time of that Python in a step",
    Derived("twice the longest call of a compiled function"),
)
LOCK_MAX_EAGER = Threshold(
    0.1,
    "share",
    "maximum share of the step in eager operations: with more, their Python is long by itself",
    Cited("XProf warns of eager execution from 10 %"),
)
LOCK_MIN_WORK = Threshold(
    0.5,
    "share",
    "minimum share of the step in which the pipeline's Python runs",
    Chosen("two threads meet more often than not"),
)
LOCK_WAITING_MAX = Threshold(
    0.9,
    "share",
    "maximum share of the training thread's Python that waits for the GIL",
    Measured(
        "a map of numpy_function next to a fit, rewritten with TensorFlow operations: 7.4 and 7.8 ms a step became "
        "2.3 and 2.0. Threads that alternate each get a half; one that releases the lock at each call gets less",
        TWO_BUSY_CORES,
        2,
    ),
)

#: TensorFlow's and Keras' own Python, in which the training thread needs the lock.
_PYTHON: PartName = "dispatch"
#: The share of the training thread's Python that is waiting, at least and at most: nothing where the pipeline's waits
#: itself (for a service, or in NumPy, without the lock).
WAITING = (0.0, LOCK_WAITING_MAX.value)


class Lock(msgspec.Struct, frozen=True):
    """ms of the mean clean step: the Python of the training thread's calls, and what of it waits for the lock, at least
    and at most. ``freed``: the share (0 to 1) of the processors that the pipeline's Python takes. All 0 where it hardly
    matters."""

    python_ms: float = 0.0
    lower_ms: float = 0.0
    upper_ms: float = 0.0
    freed: float = 0.0
    measured: tuple[Measurement, ...] = ()

    def left(self, step_ms: float) -> float:
        """At best, of ``step_ms`` without the pipeline's Python: its processors are free as well."""
        return max(step_ms - self.upper_ms, shared.LEFT_MIN.value * step_ms) / (1 + self.freed)


def lock(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> Lock:
    """Estimate the time that a stage with Python takes from the training thread."""
    unit = evidence.unit
    step_ms, python, worked = evidence.step_ms, evidence.part(_PYTHON), work(pipeline, stage)
    if not step_ms or python < max(LOCK_MIN_PYTHON.value * step_ms, LOCK_MIN_MS.value):
        return Lock()
    if worked < LOCK_MIN_WORK.value * step_ms or evidence.share("eager_ops") > LOCK_MAX_EAGER.value:
        return Lock()
    lower, upper = (share * min(worked / step_ms, 1.0) * min(python, step_ms) for share in WAITING)
    measured = (
        Measurement(f"TensorFlow's Python on the training thread {unit.per}", python, "ms", "breakdown"),
        Measurement(f"the pipeline's Python {unit.per}, waiting included", worked, "ms", "run"),
    )
    return Lock(python, lower, upper, min(worked / (evidence.cpus * step_ms), 1.0), measured)


def work(pipeline: Pipeline, stage: Stage) -> float:
    """ms for a step in which the stage works, on all its threads together, waiting for the lock included."""
    return (stage.self_ms_per_output or 0.0) * (pipeline.outputs_per_step or 1.0)
