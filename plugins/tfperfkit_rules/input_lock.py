"""What the pipeline's Python takes from the training thread's: only one thread at a time has the interpreter's lock."""

from __future__ import annotations

import msgspec
from tfperfkit_probes.input_model import Pipeline, Stage

from tfperfkit.evidence import Evidence
from tfperfkit.model import Measurement

#: TensorFlow's and Keras' own Python, in which the training thread needs the lock.
_PYTHON = "dispatch"
#: It takes this share of the step at least and so many ms: around compiled functions it is 0.3 to 1 ms else. Where
#: operations run eagerly (more than this share of the step) it is long by itself, and nothing tells what waits.
LEAST_PYTHON, LEAST_MS, MOST_EAGER = 0.3, 2.0, 0.1
#: The pipeline's Python is at work for this share of the step at least.
LEAST_WORK = 0.5
#: The share of the training thread's Python that is waiting: nothing where the pipeline's waits itself (for a service,
#: or in NumPy, without the lock); where it is always at work, two threads that take turns give a half, and one that
#: gives the lock up at each call into TensorFlow gets less than its turn. A map of numpy_function beside a fit, written
#: anew with TensorFlow operations: 7.4 and 7.8 ms a step became 2.3 and 2.0.
WAITING = (0.0, 0.9)


class Lock(msgspec.Struct, frozen=True):
    """ms of the mean clean step: the Python of the training thread's calls, and what of it waits for the lock, at least
    and at most. ``freed``: the share (0 to 1) of the processors that the pipeline's Python takes. All 0 where it hardly
    matters."""

    python_ms: float = 0.0
    least_ms: float = 0.0
    most_ms: float = 0.0
    freed: float = 0.0
    measured: tuple[Measurement, ...] = ()

    def left(self, step_ms: float) -> float:
        """At best, of ``step_ms`` without the pipeline's Python: its processors are free as well."""
        return max(step_ms - self.most_ms, 0.1 * step_ms) / (1 + self.freed)


def lock(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> Lock:
    """What a stage that runs Python takes from the training thread."""
    step_ms, python, worked = evidence.step_ms, evidence.part(_PYTHON), work(pipeline, stage)
    if not step_ms or python < max(LEAST_PYTHON * step_ms, LEAST_MS) or worked < LEAST_WORK * step_ms:
        return Lock()
    if evidence.share("eager_ops") > MOST_EAGER:
        return Lock()
    least, most = (share * min(worked / step_ms, 1.0) * min(python, step_ms) for share in WAITING)
    measured = (
        Measurement("TensorFlow's Python on the training thread, a step", python, "ms", "breakdown"),
        Measurement("in the pipeline's Python, a step, waiting included", worked, "ms", "run"),
    )
    return Lock(python, least, most, min(worked / (evidence.cpus * step_ms), 1.0), measured)


def work(pipeline: Pipeline, stage: Stage) -> float:
    """ms for a step in which the stage works, on all its threads together, waiting for the lock included."""
    return (stage.self_ms_per_output or 0.0) * (pipeline.outputs_per_step or 1.0)
