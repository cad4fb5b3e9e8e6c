"""Whether the others of a rank that comes late for its input wait for their own all the same.

A pipeline with threads of its own makes the next batch while the step trains and waits for the exchange. If the
pipelines of all ranks need the whole step for a batch, one rank is ahead of the other by its lead at the start, and
stays so: it waits for the other in each step, and gains nothing if the other comes sooner.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.offers.late_rank import INPUT, Cause, Late
from tfperfkit.ranks import numbers
from tfperfkit.ranks.part import Part


def as_slow(late: Late, why: Cause | None, parts: Sequence[Part]) -> str:
    """In a sentence, why nobody is named after all; "" if the others' input is quicker, or not known."""
    if why is None or why.kind != INPUT:
        return ""
    others = [part for part in parts if part.label != late.rank and part.pace_ms is not None and part.turn_ms]
    if not others or 2 * sum(map(_bound_by_its_own, others)) < len(others):
        return ""
    return (
        f"{late.rank.capitalize()} comes last, by {late.wait_ms:.0f} ms of a step, for it waits for its input; but "
        "that of the others takes the whole step as well, so they would wait for their own: nobody is named."
    )


def _bound_by_its_own(part: Part) -> bool:
    """Return whether its own input takes the step, as it is seen: by the time that the pipeline needs, which is read
    too small rather than too large; or by less of that where it waits for a pipeline that works in the background."""
    turn, pace = part.turn_ms or 0.0, part.pace_ms or 0.0
    waits = part.outside_ms.get(INPUT, 0.0)
    if pace >= numbers.OWN_PACE.value * turn:
        return True
    seen = waits >= numbers.OWN_WAIT.value * turn and pace >= numbers.IN_BACKGROUND.value * waits
    return seen and pace >= numbers.OWN_PACE_SEEN.value * turn
