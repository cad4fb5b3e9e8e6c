"""What the kernels of eager operations take when nothing disturbs them.

The mean tells of the machine as much as of the operation: on one that is busy, an operation on ten numbers that waits
once for a processor has a mean of milliseconds. A loop runs the same operations again and again, so each is set beside
those of its type that stand between the same operations before and behind it. The lower quartile of these counts for
all: where a thread waits for most of the time, the median is one that waited.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: So many operations before, and behind, make the place of an operation in its loop.
_BEFORE, _BEHIND = 4, 2


class Kernel(NamedTuple):
    """An eager operation: its type, and what passed between handing it to its kernel and having its result (ps)."""

    type: str
    ps: int


def undisturbed(threads: Iterable[Sequence[Kernel]]) -> dict[str, float]:
    """ps of all kernels by type, each thread's operations in their order."""
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for kernels in threads:
        types = [kernel.type for kernel in kernels]
        for index, kernel in enumerate(kernels):
            around = types[max(0, index - _BEFORE) : index + _BEHIND + 1]
            key = (kernel.type, *around)
            alike[key].append(kernel.ps)
    found: dict[str, float] = defaultdict(float)
    for place, each in alike.items():
        found[place[0]] += _lower(each) * len(each)
    return dict(found)


def _lower(each: list[int]) -> int:
    return sorted(each)[(len(each) - 1) // 4]
