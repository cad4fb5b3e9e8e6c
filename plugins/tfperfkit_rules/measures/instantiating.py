"""The time in which the runtime instantiates compiled functions that it has run before."""

from __future__ import annotations

from tfperfkit.offers import Instantiations, StepBreakdown
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.trace_window import window_in_work


def instantiated_again(evidence: Evidence) -> float:
    """Return the share (0 to 1) of the step, or of an iteration of the work, in which calls of compiled functions
    instantiate them again, by its trace; 0 without a trace. This is a lower bound: the first call of each function in
    the trace does not count."""
    data = evidence.offer(Instantiations)
    if data is None or not data.count or data.wall_ms <= 0:
        return 0.0
    if evidence.work is None:
        here = evidence.offer(StepBreakdown) is not None
    else:
        here = window_in_work(evidence, evidence.offered_by(Instantiations)) is not None
    share = min(data.ms / data.wall_ms, evidence.share("graph"))
    return min(share, shared.MAX_STEP_SHARE.value) if here else 0.0
