"""The cost that each step of ``fit`` has for its own call from Python."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.pricing import costs
from tfperfkit.records.steps import Site
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.batch_cost import StepCost, step_cost
from tfperfkit_rules.measures.step_place import reached

FIT_CALLS_MIN_SHARE = Threshold(
    2 * calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the step outside of its operations, for a finding about the calls",
    Derived("twice a high share: half of it is what several steps in one call save for certain"),
)
FIT_CALLS_MAX_STEP_MS = Threshold(
    5 * costs.FUNCTION_CALL_MAX_MS.value,
    "ms",
    "longest step that has a finding about its calls",
    Derived("the cost of a call (FUNCTION_CALL_MAX_MS) is at most a fifth of it"),
)
FIT_CALLS_MIN_AROUND = Threshold(
    calibration.SEVERITY_HIGH.value,
    "share",
    "minimum share of the step outside of the compiled function",
    Derived("a high share, as XProf has it for one part of a step"),
)
FIT_CALLS_MIN_STEPS = Threshold(
    1000,
    "steps",
    "minimum number of steps: fewer are over soon either way",
    Chosen("at most 5 s in all (FIT_CALLS_MAX_STEP_MS)"),
)


class FitCalls(NamedTuple):
    """Overhead of a step in ``fit``.

    ``around_ms``: outside of the compiled function; ``launch_ms``: in the function, between its operations.
    """

    site: Site
    cost: StepCost
    around_ms: float
    launch_ms: float

    @property
    def share(self) -> float:
        """Return the overhead's share of the step (0 to 1)."""
        return min(1.0, (self.around_ms + self.launch_ms) / self.cost.step_ms)


def costly_calls(evidence: Evidence) -> FitCalls | None:
    """The call of ``fit`` whose steps cost more to call than to compute; None where there is none, where several steps
    run in one call already, or for work outside of the training steps: ``fit`` does not call its iterations."""
    if evidence.work is not None:
        return None
    sites = reached(evidence, "batch")
    clean = evidence.steps.clean
    if not sites or not clean or any(step.count > 1 for step in clean):
        return None
    if evidence.steps.count < FIT_CALLS_MIN_STEPS.value:
        return None
    cost = step_cost(evidence)
    if cost is None or cost.step_ms > FIT_CALLS_MAX_STEP_MS.value:
        return None
    around = cost.step_ms - cost.graph_ms - cost.input_ms
    launch = max(0.0, cost.graph_ms - cost.operations_ms)
    if around < FIT_CALLS_MIN_AROUND.value * cost.step_ms:
        return None
    if around + launch < FIT_CALLS_MIN_SHARE.value * cost.step_ms:
        return None
    return FitCalls(sites[0], cost, around, launch)
