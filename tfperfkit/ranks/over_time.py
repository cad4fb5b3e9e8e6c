"""Who came last to the exchange over the time of a run in watch mode.

Ranks that train together make the same steps, so stretches go by the steps' numbers: no clock is compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

import msgspec

from tfperfkit.ranks import numbers
from tfperfkit.ranks.moments import Moment, mean
from tfperfkit.ranks.part import Part

#: Stretches, of as many steps each.
_MAX = 12


class Stretch(msgspec.Struct, frozen=True, kw_only=True):
    """Up to step number ``step``, ``until_s`` after the first rank's start. ``turn_ms``: of a step, the longest of the
    ranks. ``last``: who needed longest until the exchange, ``wait_ms`` longer than the middle one of the others."""

    step: int
    until_s: float
    turn_ms: float
    last: str
    wait_ms: float

    @property
    def late(self) -> bool:
        """Return whether the others wait for it, beyond chance."""
        return self.wait_ms >= numbers.MIN_LATE.value * self.turn_ms


class _Own(msgspec.Struct, frozen=True):
    label: str
    until_s: float
    turn_ms: float
    own_ms: float


def over_time(parts: Sequence[Part]) -> tuple[Stretch, ...]:
    """In order; empty if that is not known of all ranks, or these don't wait for each other at each step."""
    if len(parts) < 2 or not all(part.moments for part in parts):
        return ()
    begin = max(part.moments[0].after for part in parts)
    end = min(part.moments[-1].step for part in parts)
    count = min(_MAX, end - begin, *(len(part.moments) for part in parts))
    computing = all(moment.compute_ms is not None for part in parts for moment in part.moments)
    found = []
    for number in range(count):
        low, high = (begin + (end - begin) * at / count for at in (number, number + 1))
        own = [_own_time(part, low, high, computing=computing) for part in parts]
        known = sorted((each for each in own if each is not None), key=lambda each: each.own_ms)
        turns = [each.turn_ms for each in known]
        if len(known) < len(parts) or max(turns) > numbers.SAME_STEP.value * min(turns):
            continue
        last = known[-1]
        wait = last.own_ms - statistics.median(each.own_ms for each in known[:-1])
        until = next(each.until_s for each in own if each is not None)
        found.append(Stretch(step=round(high), until_s=until, turn_ms=max(turns), last=last.label, wait_ms=wait))
    return tuple(found)


def _own_time(part: Part, low: float, high: float, *, computing: bool) -> _Own | None:
    """Return the rank's own time in the steps in between; None without any."""
    inside = [moment for moment in part.moments if moment.after < high and moment.step > low]
    weights = [min(moment.step, high) - max(moment.after, low) for moment in inside]
    turn = mean(inside, lambda moment: moment.turn_ms, weights)
    own = mean(inside, _until if computing else lambda moment: moment.outside_ms, weights)
    if turn is None or own is None:
        return None
    return _Own(part.label, inside[-1].until_s, turn, own)


def _until(moment: Moment) -> float:
    return moment.outside_ms + (moment.compute_ms or 0.0)
