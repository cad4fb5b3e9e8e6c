"""How far apart the calendars of the ranks' machines are, known from exchanges that were traced on both.

No rank can end an exchange before each has begun it. So of each exchange: the clock of A is ahead of that of B by no
more than A's end is after B's begin, and by no less than A's begin is after B's end. Many exchanges leave a narrow
interval.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tfperfkit.clock import NS_PER_S
from tfperfkit.ranks.part import Part

#: On the rank that sends, a broadcast may be over before others begin.
_ONE_SIDED = "broadcast"
_MAX = 5
_Spans = dict[tuple[int, str], tuple[int, int]]


class Offset(msgspec.Struct, frozen=True, kw_only=True):
    """The calendar of ``rank`` is ``ahead_s`` (s, give or take ``error_s``) ahead of that of ``other``."""

    rank: str
    other: str
    ahead_s: float
    error_s: float
    exchanges: int


def offsets(parts: Sequence[Part]) -> list[Offset]:
    """Return the clock offset of each rank against the first, if exchanges of both show it; none if they contradict
    each other.
    """
    traced = [(part, spans) for part in parts if (spans := _spans(part))]
    found = []
    for part, mine in traced[1:]:
        first, yours = traced[0]
        common = mine.keys() & yours.keys()
        if not common:
            continue
        upper = min(mine[key][1] - yours[key][0] for key in common) / NS_PER_S
        lower = max(mine[key][0] - yours[key][1] for key in common) / NS_PER_S
        if lower > upper:
            continue
        apart = part.calendar_s - first.calendar_s + (upper + lower) / 2
        error = (upper - lower) / 2 + (part.clock_error_ms + first.clock_error_ms) / 1000
        found.append(Offset(rank=part.label, other=first.label, ahead_s=apart, error_s=error, exchanges=len(common)))
    return found


def words(found: Sequence[Offset]) -> str:
    """In a sentence, the largest first; "" if nothing is known."""
    if not found:
        return ""
    apart = sorted((each for each in found if abs(each.ahead_s) > each.error_s), key=lambda each: -abs(each.ahead_s))
    if not apart:
        error = max(each.error_s for each in found)
        return f"The clocks of the ranks agree, as far as exchanges tell: to {_time(error)}."
    offsets = [
        f"{each.rank}'s is {_time(abs(each.ahead_s))} {'ahead of' if each.ahead_s > 0 else 'behind'} {each.other}'s "
        f"(give or take {_time(each.error_s)})"
        for each in apart[:_MAX]
    ]
    more = f"; and {len(apart) - _MAX} more" if len(apart) > _MAX else ""
    return f"Clocks differ, as exchanges tell: {'; '.join(offsets)}{more}."


def _spans(part: Part) -> _Spans:
    """(first begin, last end) in ns by step and name.

    An operation that runs several times in a step is one here: the facts about begin and end hold all the same.
    """
    spans: _Spans = {}
    for row in part.exchanges:
        if row.ended_ns is None or _ONE_SIDED in row.name.lower():
            continue
        begin, end = row.ended_ns - round(row.ms * 1e6), row.ended_ns
        before = spans.get((row.step, row.name), (begin, end))
        spans[row.step, row.name] = (min(begin, before[0]), max(end, before[1]))
    return spans


def _time(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.2g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"
