"""Arithmetic on very many spans of time as arrays of picoseconds: what ``spans`` does one by one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_MAX_PS = 1 << 62


class Spans(NamedTuple):
    """Half-open spans ``[begin, end)``; sorted and disjoint where they come from ``union``."""

    begin: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def total(self) -> int:
        """Return the sum of the lengths."""
        return int((self.end - self.begin).sum())


NONE = Spans(np.zeros(0, np.int64), np.zeros(0, np.int64))


def union(spans: Iterable[Spans]) -> Spans:
    """Return the moments covered by any of the spans: sorted, disjoint, none empty."""
    several = [each for each in spans if len(each.begin)]
    if not several:
        return NONE
    begin = np.concatenate([each.begin for each in several])
    end = np.concatenate([each.end for each in several])
    there = end > begin
    if not there.all():
        begin, end = begin[there], end[there]
    if not len(begin):
        return NONE
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], end[order]
    reach = np.maximum.accumulate(end)
    first = np.ones(len(begin), dtype=bool)
    first[1:] = begin[1:] > reach[:-1]
    last = np.append(np.flatnonzero(first)[1:] - 1, len(begin) - 1)
    return Spans(begin[first], reach[last])


def gaps(busy: Spans, begin: int, end: int) -> Spans:
    """Return the moments of ``[begin, end)`` that ``busy`` (from ``union``) does not cover."""
    first = np.concatenate([np.array([begin], np.int64), np.clip(busy.end, begin, end)])
    last = np.concatenate([np.clip(busy.begin, begin, end), np.array([end], np.int64)])
    there = last > first
    return Spans(first[there], last[there])


def without(spans: Spans, others: Spans) -> Spans:
    """Return the parts of ``spans`` that are not within ``others``; both from ``union``."""
    if not len(spans) or not len(others):
        return spans
    return within(spans, gaps(others, int(spans.begin[0]), int(spans.end[-1])))


def within(spans: Spans, windows: Spans) -> Spans:
    """Return the parts of ``spans`` that are within ``windows``; both from ``union``."""
    if not len(spans) or not len(windows):
        return NONE
    # Find the spans that touch each window.
    low = np.searchsorted(spans.end, windows.begin, side="right")
    high = np.searchsorted(spans.begin, windows.end, side="left")
    count = np.maximum(high - low, 0)
    window = np.repeat(np.arange(len(windows)), count)
    which = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + low[window]
    return Spans(
        np.maximum(spans.begin[which], windows.begin[window]), np.minimum(spans.end[which], windows.end[window])
    )


def inside(spans: Spans, moments: Ints) -> npt.NDArray[np.bool_]:
    """Return whether each moment is within the ``spans`` (from ``union``)."""
    if not len(spans):
        return np.zeros(len(moments), dtype=bool)
    last = np.searchsorted(spans.begin, moments, side="right") - 1
    return (last >= 0) & (moments < spans.end[last])


def overlap(spans: Spans, begin: Ints, end: Ints) -> npt.NDArray[np.bool_]:
    """Return whether the ``spans`` (from ``union``) cover any part of each ``[begin, end)``."""
    touched = inside(spans, begin)
    following = np.searchsorted(spans.begin, begin, side="right")
    there = following < len(spans)
    touched[there] |= spans.begin[following[there]] < end[there]
    return touched


def spans_of(pairs: Iterable[tuple[int, int]]) -> Spans:
    """Return a few spans as arrays; what is beyond any session's time (damaged records) is cut to it."""
    found = [[min(max(moment, -_MAX_PS), _MAX_PS) for moment in pair] for pair in pairs]
    return Spans(*np.array(found, dtype=np.int64).T.copy()) if found else NONE


def covered(spans: Spans, begin: Ints, end: Ints) -> Ints:
    """Return how much of each ``[begin, end)`` the ``spans`` (from ``union``) cover."""
    return _until(spans, end) - _until(spans, begin)


def _until(spans: Spans, moment: Ints) -> Ints:
    """Return how much they cover before each moment."""
    if not len(spans):
        return np.zeros(len(moment), np.int64)
    whole = np.concatenate([np.zeros(1, np.int64), np.cumsum(spans.end - spans.begin)])
    index = np.searchsorted(spans.begin, moment, side="right")
    last = np.maximum(index - 1, 0)
    inside = np.clip(moment - spans.begin[last], 0, spans.end[last] - spans.begin[last])
    return np.where(index > 0, whole[last] + inside, 0)


def own_times(begin: Ints, duration: Ints) -> Ints:
    """Return the time of each event of a thread without that of the events within it.

    The events are sorted by begin, longer ones first; one that outlasts the one around it counts in it no longer.
    """
    if not (begin[1:] < begin[:-1] + duration[:-1]).any():
        return duration
    # Arrays, not lists: a list takes five times as much.
    own, starts, lengths = (array("q", each.tobytes()) for each in (duration, begin, duration))
    ends: list[int] = []
    around: list[int] = []
    for index, start in enumerate(starts):
        while ends and start >= ends[-1]:
            ends.pop()
            around.pop()
        end = start + lengths[index]
        if ends:
            own[around[-1]] -= (end if end < ends[-1] else ends[-1]) - start
        ends.append(end)
        around.append(index)
    return np.frombuffer(own, dtype=np.int64)


def in_order(begin: Ints, duration: Ints) -> Ints | None:
    """Return the order by begin, longer ones first; None if they stand so already."""
    if len(begin) < 2:
        return None
    ahead = begin[1:] - begin[:-1]
    if bool(((ahead > 0) | ((ahead == 0) & (duration[1:] <= duration[:-1]))).all()):
        return None
    return np.lexsort((-duration, begin))
