"""The first part of a trace that is too large to be held: until when each of its lines is read.

Each line is written in the order of time, and may be as long as it likes. Of each long one as large a share of its
bytes is passed over, and the line that has come least far by then tells until when all of them are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfperfkit.xplane.columns import begin_at
from tfperfkit.xplane.reader import Plane

#: A share of a line with fewer bytes than this (a thousand events or so) tells nothing of how far the others are.
_LONG = 1 << 15
#: Where no line is that long, so many of the largest tell.
_LARGEST = 100


def until(planes: Iterable[Plane], share: float, progress: Callable[[int], None] | None = None) -> int | None:
    """The moment (ps since the session began) at which the first ``share`` of the bytes of the long lines ends; None
    without events. Raises ``Unavailable`` for a damaged file."""
    lines = [(plane, start, end) for plane in planes for start, end in plane.line_spans]
    lines.sort(key=lambda line: line[1] - line[2])
    long = [line for line in lines if (line[2] - line[1]) * share >= _LONG] or lines[:_LARGEST]
    found = None
    for plane, start, end in long:
        begin = begin_at(plane, start, end, start + round((end - start) * share))
        if begin is not None:
            found = begin if found is None else min(found, begin)
        if progress is not None:
            progress(start + round((end - start) * share))
    return found
