"""The CPU core that the pipeline's Python takes from compiled functions that could compute on all of them."""

from __future__ import annotations

import msgspec
from tfperfkit_probes.input.model import Pipeline, Stage

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.model import Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.interpreter_lock import work
from tfperfkit_rules.measures import graph_time

SPREAD_MIN = Threshold(
    0.3,
    "share",
    "minimum share of the step in matmuls and convolutions, which TensorFlow computes on all cores",
    Chosen("with less the step has little use for another core"),
)


class Core(msgspec.Struct, frozen=True):
    """``taken``: the share (0 to 1) of the CPU cores' time in a step that the pipeline's Python takes. ``spread``: the
    share of the step in operations that use all cores. Both 0 if it hardly matters."""

    taken: float = 0.0
    spread: float = 0.0
    measured: tuple[Measurement, ...] = ()

    def saved(self, left: float) -> tuple[float, float]:
        """Return the shares of the step that go if ``left`` (0 to 1) of that Python remains, and if none does.

        At least the operations that use all cores get what is free. At most the step does, as one thread that lacks a
        core holds up the others.
        """
        return (1 - left) * self.taken * self.spread, self.taken


def core_taken(evidence: Evidence, pipeline: Pipeline, stage: Stage) -> Core:
    """Measure the core that a stage that runs Python takes."""
    unit, step_ms = evidence.unit, evidence.step_ms
    worked = work(pipeline, stage)
    spread = graph_time.share(evidence, lambda row: optable.is_heavy(row.type))
    if not step_ms or spread < SPREAD_MIN.value:
        return Core()
    taken = min(worked, step_ms) / (evidence.cpus * step_ms)  # Python runs on one core at a time
    if taken < calibration.SEVERITY_MEDIUM.value:
        return Core()
    measured = (
        Measurement(f"the pipeline's Python {unit.per}", min(worked, step_ms), "ms", "run"),
        Measurement("share of this Python in all CPU cores' time", taken, "share", "run"),
        Measurement(f"share of {unit.the} in matmuls and convolutions", spread, "share", "breakdown"),
    )
    return Core(taken, spread, measured)
