"""Growth with the steps: a robust slope, and an interval that does not take chance for a trend.

Resident memory is no straight line with noise around it: it stays, then jumps. The usual interval of a slope takes
neighbouring samples for independent and is far too narrow. So the phase is cut into blocks of equally many steps; the
increments from block to block are what may be taken for independent, and the interval is that of their median, from
the order statistics (sign test; no assumption about the distribution). One or two jumps decide nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import msgspec
import numpy as np

#: More points than this are thinned before all pairs are taken (45,000 slopes).
MAX_POINTS = 300
#: Ten blocks give nine increments: the second lowest and the second highest bound the median with 96.1 %.
_BLOCKS, _MIN_BLOCKS = 10, 7


class Growth(msgspec.Struct, frozen=True):
    """Per unit of x: the slope (Theil and Sen), and an interval of at least 95 % for it. ``steady`` tells that the
    second half of the phase grows too, by at least a third of that slope: what only settles down does not."""

    slope: float
    low: float
    high: float
    first: float
    last: float
    steady: bool

    @property
    def total(self) -> float:
        return self.slope * (self.last - self.first)


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs; 0.0 with fewer than two different x."""
    chosen = np.asarray(_thinned(points), dtype=float)
    if len(chosen) < 2:
        return 0.0
    first, second = np.triu_indices(len(chosen), 1)
    run = chosen[second, 0] - chosen[first, 0]
    rise = chosen[second, 1] - chosen[first, 1]
    slopes = rise[run > 0] / run[run > 0]
    return float(np.median(slopes)) if len(slopes) else 0.0


def growth(points: Sequence[tuple[float, float]]) -> Growth | None:
    """``points`` are (x, value) in order of x; None when they fill fewer than seven blocks."""
    if len(points) < 2 or points[-1][0] <= points[0][0]:
        return None
    middles = _blocks(points)
    if len(middles) < _MIN_BLOCKS:
        return None
    rates = sorted((b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(middles, middles[1:], strict=False))
    rank = _rank(len(rates))
    slope = theil_sen(points)
    half = points[0][0] + (points[-1][0] - points[0][0]) / 2
    later = theil_sen([point for point in points if point[0] >= half])
    return Growth(
        slope=slope,
        low=min(rates[rank], slope),
        high=max(rates[-1 - rank], slope),
        first=points[0][0],
        last=points[-1][0],
        steady=later > 0 and later >= slope / 3,
    )


def _blocks(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The medians of x and value in each block of equal length in x that has a point."""
    first, span = points[0][0], points[-1][0] - points[0][0]
    blocks: list[list[tuple[float, float]]] = [[] for _ in range(_BLOCKS)]
    for point in points:
        blocks[min(int((point[0] - first) / span * _BLOCKS), _BLOCKS - 1)].append(point)
    return [
        (statistics.median(x for x, _ in block), statistics.median(y for _, y in block)) for block in blocks if block
    ]


def _rank(count: int) -> int:
    """The largest rank (from 0) whose order statistics, from both ends, hold the median with 95 % at least."""
    rank, outside = 0, 2 / 2**count
    while True:
        outside += 2 * math.comb(count, rank + 1) / 2**count
        if outside > 0.05:
            return rank
        rank += 1


def _thinned(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    if len(points) <= MAX_POINTS:
        return points
    return [points[round(i * (len(points) - 1) / (MAX_POINTS - 1))] for i in range(MAX_POINTS)]
