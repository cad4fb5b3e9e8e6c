"""Stretches of time that don't overlap, and how much of another one they cover."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import Any

Span = tuple[int, int]  # begin, end in ns of ``clock.now_ns``


class Spans(Sequence[Span]):
    """Sorted, overlapping ones joined."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        for begin, end in sorted(spans):
            if self._ends and begin <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            elif end > begin:
                self._begins.append(begin)
                self._ends.append(end)
        self._before = [0]  # the sum of the lengths of all earlier ones
        for begin, end in zip(self._begins, self._ends, strict=True):
            self._before.append(self._before[-1] + end - begin)

    def __len__(self) -> int:
        return len(self._begins)

    def __getitem__(self, index: Any) -> Any:
        return list(zip(self._begins, self._ends, strict=True))[index]

    def overlap(self, begin: int, end: int) -> int:
        """ns of [begin, end) that are covered."""
        index = bisect.bisect_left(self._begins, end)
        if index == 0 or self._ends[index - 1] <= begin:  # as of most steps
            return 0
        return max(0, self.until(end) - self.until(begin))

    def until(self, when: int) -> int:
        """ns covered before ``when``."""
        index = bisect.bisect_right(self._begins, when)
        if index == 0:
            return 0
        return self._before[index - 1] + min(when, self._ends[index - 1]) - self._begins[index - 1]
