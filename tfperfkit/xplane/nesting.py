"""Which events of a thread are within which, for many events at once.

The events are sorted by begin, longer ones first. A loop over them would keep a stack of the events that are open. Here
``around`` returns the top of that stack at each event.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tfperfkit.xplane.intervals import Ints

Flags = npt.NDArray[np.bool_]
#: An end before every begin.
_NEVER = np.iinfo(np.int64).min
#: Events of a piece: bounds the memory next to the trace.
PIECE = 1 << 15
#: Stages within each other that ``without_empty`` looks through. Pipelines have up to a dozen.
_ROUNDS = 16
#: It stops where a round leaves out no more than one event of so many.
_FEW = 16


def around(begin: Ints, end: Ints, opens: Flags) -> Ints:
    """Return the place of the innermost event around each event, -1 if there is none.

    Only events that are flagged in ``opens`` are around others. The innermost one is the last event before it that ends
    after it begins. A tree of maxima over the ends finds that in a time of n log n, however the events lie.
    """
    levels = [np.where(opens, end, _NEVER)]
    while len(levels[-1]) > 1:
        if len(levels[-1]) % 2:
            levels[-1] = np.append(levels[-1], _NEVER)
        levels.append(np.maximum(levels[-1][0::2], levels[-1][1::2]))
    found = np.full(len(begin), -1, dtype=np.int64)
    height = np.zeros(len(begin), dtype=np.int8)
    looking = np.arange(len(begin))
    count = looking.copy()  # nodes of the level that hold earlier events which were not looked at
    for level, latest in enumerate(levels):
        is_hit = (count & 1 == 1) & (latest[count - 1] > begin[looking])
        found[looking[is_hit]], height[looking[is_hit]] = count[is_hit] - 1, level
        goes_on = ~is_hit & (count > 1)
        looking, count = looking[goes_on], count[goes_on] >> 1
    for level in range(len(levels) - 2, -1, -1):
        above = np.flatnonzero(height > level)
        right = 2 * found[above] + 1
        found[above] = right - (levels[level][right] <= begin[above])
    return found


def nearest(parent: Ints, wanted: Flags) -> Ints:
    """Return the nearest wanted event around each event, -1 if there is none; ``parent`` is from ``around``."""
    found = np.append(parent, -1)  # -1 is the place of the last
    is_known = np.append(wanted, True)
    looking = np.flatnonzero(~is_known[parent])
    while len(looking):
        found[looking] = found[found[looking]]
        looking = looking[~is_known[found[looking]]]
    return found[:-1]


def without_empty(begin: Ints, end: Ints, which: Ints, may_go: Flags) -> Ints:
    """Return the places ``which`` without most of those events that ``may_go`` and within which no other event begins.

    ``begin`` and ``end`` are of all events of the thread, ``may_go`` is of those in ``which``.
    """
    for _ in range(_ROUNDS):
        is_empty = may_go.copy()
        is_empty[:-1] &= end[which[:-1]] <= begin[which[1:]]
        which, may_go = which[~is_empty], may_go[~is_empty]
        if np.count_nonzero(is_empty) * _FEW <= len(is_empty):
            break
    return which


def pieces(begin: Ints, end: Ints, size: int = PIECE) -> Iterator[slice]:
    """Cut events into slices of about ``size``, each longer only as far as no event is around events of two slices."""
    apart = np.flatnonzero(begin[1:] >= np.maximum.accumulate(end)[:-1]) + 1
    first = 0
    while first + size < len(begin):
        place = int(np.searchsorted(apart, first + size))
        if place == len(apart):
            break
        yield slice(first, int(apart[place]))
        first = int(apart[place])
    yield slice(first, len(begin))
