"""Whether anything speaks for it that a step which computes, computes what it has to.

Time in compiled functions alone says nothing: work that is not needed computes too. It speaks for a step that its time
is spread over lines and layers, or that a layer of Keras' own which takes most of it is bound by what the machine can
do. A line of the user's own that takes most of it may do in each step what need not be done at all.
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


def doubt(evidence: Evidence, *, near_limit: bool = False) -> str:
    """Why it is not known that the step, or the work, computes what it needs, as a sentence with how to look further;
    "" where that speaks for itself. ``near_limit``: it computes about as fast as the machine can."""
    step = evidence.offer(ComputedStep)
    if step is None or step.ms <= 0 or 2 * (step.unknown_ms + step.waits_ms) > step.ms:
        return "" if near_limit else " On which lines was not traced, so it is open whether all of it is needed."
    if _is_little(evidence, step):
        return f" The trace holds {step.traced_ms:,.3g} ms of it, so it is open whether all of it is needed."
    part = _on_one_place(evidence, step)
    if part is not None:
        return (
            f" Whether {evidence.unit.a} needs all of that, no rule can tell: look for what is the same each time, "
            "what is thrown away, what could be done for many at once, and whether a cheaper operation would do."
        )
    if not near_limit and step.idle_ms >= MOST * step.ms:
        return (
            f" Of that, {100 * step.idle_ms / step.ms:.0f} % passes between operations, in starting them: fewer and "
            "larger ones (whole batches, no loops in the graph) take less."
        )
    return "" if near_limit else _far_from_the_machine(step)


def _far_from_the_machine(step: ComputedStep) -> str:
    """What the machine's arithmetic or memory bounds is done as fast as it can be; of the rest, bound by its kernels or
    by nothing known, there may be something to gain.
    """
    near = sum(row.ms for row in step.operations if row.bound in BY_THE_MACHINE)
    if near >= MOST * step.ms:
        return ""
    return (
        f" Only {100 * near / step.ms:.0f} % of that is in operations known to be bound by this machine's "
        "arithmetic or memory, so it is open whether the rest could be faster."
    )


def _is_little(evidence: Evidence, step: ComputedStep) -> bool:
    """Whether a trace that lay in a work holds far less than an iteration: then most of one may be something else."""
    account = evidence.account
    return account is not None and 0 < step.traced_ms < calibration.TOLD_SPAN.value * account.mean_ms


def one_place(evidence: Evidence) -> SourceSpan | None:
    """The line of the user's own on which most is computed, of which nobody knows whether it is needed."""
    step = evidence.offer(ComputedStep)
    part = _on_one_place(evidence, step) if step is not None and step.ms > 0 else None
    return part.where if part is not None and not part.layer else None


def _on_one_place(evidence: Evidence, step: ComputedStep) -> ComputedLine | None:
    """The line of the user's own, or the layer, which takes most of what is computed and speaks not for itself."""
    for part in computed_parts(evidence):
        if sum(row.ms for row in part.operations) < MOST * step.ms:
            continue
        own = not part.layer and part.direct >= MOST
        if own or (bool(part.layer) and not part.is_bound_by_machine):
            return part
    return None
