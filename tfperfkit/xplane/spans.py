"""Arithmetic on spans of time. All times are integers (picoseconds), so that parts add up exactly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Span(NamedTuple):
    """A half-open span ``[begin, end)``."""

    begin: int
    end: int


def union(spans: Iterable[tuple[int, int]]) -> list[Span]:
    """Return the moments covered by any of the spans: sorted, disjoint, none empty."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if merged and begin <= merged[-1].end:
            if end > merged[-1].end:
                merged[-1] = Span(merged[-1].begin, end)
        else:
            merged.append(Span(begin, end))
    return merged


def total(spans: Iterable[tuple[int, int]]) -> int:
    """Return the sum of the lengths."""
    return sum(end - begin for begin, end in spans)


def intersect(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the moments in both; each is sorted and disjoint, as from ``union``."""
    found: list[Span] = []
    i = j = 0
    while i < len(left) and j < len(right):
        begin = max(left[i].begin, right[j].begin)
        end = min(left[i].end, right[j].end)
        if begin < end:
            found.append(Span(begin, end))
        if left[i].end < right[j].end:
            i += 1
        else:
            j += 1
    return found


def subtract(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the moments in ``left`` but not in ``right``; each is sorted and disjoint."""
    found: list[Span] = []
    j = 0
    for begin, end in left:
        while j < len(right) and right[j].end <= begin:
            j += 1
        k = j
        while k < len(right) and right[k].begin < end:
            if right[k].begin > begin:
                found.append(Span(begin, right[k].begin))
            begin = max(begin, right[k].end)
            k += 1
        if begin < end:
            found.append(Span(begin, end))
    return found


class SpanIndex:
    """Answers quickly whether a moment is within any of many spans."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self.spans = union(spans)
        self._begins = [span.begin for span in self.spans]

    def __contains__(self, moment: object) -> bool:
        if not isinstance(moment, int):
            return False
        index = bisect_right(self._begins, moment) - 1
        return index >= 0 and moment < self.spans[index].end

    def overlaps(self, begin: int, end: int) -> bool:
        """Return whether any part of ``[begin, end)`` is covered."""
        index = bisect_right(self._begins, begin) - 1
        if index >= 0 and begin < self.spans[index].end:
            return True
        return index + 1 < len(self.spans) and self.spans[index + 1].begin < end
