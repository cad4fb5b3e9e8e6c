"""Is the compute in a compute-bound step actually necessary?

Time in compiled functions does not answer that: unnecessary work computes too. Two things speak for a step: its time is
spread over lines and layers, or one of Keras' own layers takes most of it and is bound by the machine. If one line of
the user's code takes most of the time, that line may repeat work that could be done once, or not at all.
"""

from __future__ import annotations

from tfperfkit import calibration
from tfperfkit.graph.bounds import BY_THE_MACHINE
from tfperfkit.ledger.computed_lines import ComputedLine, computed_parts
from tfperfkit.model import SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence

#: Most of the time: the larger half.
MOST = calibration.EXPLAINS.value


def find_open_question(evidence: Evidence, *, near_limit: bool = False) -> str:
    """Return a sentence on why it is open whether all compute is necessary, and how to look further; "" if it is not.

    ``near_limit``: the step computes about as fast as the machine can.
    """
    step = evidence.offer(ComputedStep)
    if step is None or step.ms <= 0 or 2 * (step.unknown_ms + step.waits_ms) > step.ms:
        return "" if near_limit else "Its lines were not traced, so it is open whether all of it is needed."
    if _is_short_trace(evidence, step):
        held = f"{step.traced_ms:,.3g} ms of {evidence.unit.a}"
        return f"The trace holds {held}, so it is open whether all of it is needed."
    part = _find_dominant_part(evidence, step)
    if part is not None:
        return (
            f"No rule can tell whether all of this work is needed. Look for work repeated in {evidence.unit.every}, "
            "results that are discarded, loops that could be batched, and cheaper operations."
        )
    if not near_limit and step.idle_ms >= MOST * step.ms:
        return (
            f"{100 * step.idle_ms / step.ms:.0f} % of that time passes between operations, in starting them. Use fewer "
            "and larger operations: whole batches, no loops in the graph."
        )
    return "" if near_limit else _say_far_from_limit(step)


def _say_far_from_limit(step: ComputedStep) -> str:
    """Return a sentence if less than half of the time is in operations that the machine's arithmetic or memory bounds.

    Operations that are bound by their kernels, or by nothing known, may become faster.
    """
    near = sum(row.ms for row in step.operations if row.bound in BY_THE_MACHINE)
    if near >= MOST * step.ms:
        return ""
    return (
        f"Only {100 * near / step.ms:.0f} % of that is in operations known to be bound by this machine's "
        "arithmetic or memory, so it is open whether the rest could be faster."
    )


def _is_short_trace(evidence: Evidence, step: ComputedStep) -> bool:
    """Return whether a trace holds far less than one iteration: most of the iteration may be something else."""
    account = evidence.account
    return account is not None and 0 < step.traced_ms < calibration.MIN_REPORTED_SPAN.value * account.mean_ms


def find_single_line(evidence: Evidence) -> SourceSpan | None:
    """Return the line of the user's code on which most is computed, if it is open whether all of that is necessary."""
    step = evidence.offer(ComputedStep)
    part = _find_dominant_part(evidence, step) if step is not None and step.ms > 0 else None
    return part.where if part is not None and not part.layer else None


def _find_dominant_part(evidence: Evidence, step: ComputedStep) -> ComputedLine | None:
    """Return the line of the user's code, or the layer, that dominates the step without an obvious justification."""
    for part in computed_parts(step, evidence.account):
        if sum(row.ms for row in part.operations) < MOST * step.ms:
            continue
        own = not part.layer and part.direct >= MOST
        if own or (bool(part.layer) and not part.is_bound_by_machine):
            return part
    return None
