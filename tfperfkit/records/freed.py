"""When the main thread waited until an object, mostly a dataset's iterator, had been freed, by the stack samples."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.clock import NS_PER_S
from tfperfkit.records.samples import Frame, SampleLog

#: Minimum of all waits together; a single one takes ``SHORTEST_NS`` or more: each epoch, or pass over the data, may
#: have one.
MIN_NS = round(calibration.FREED_MIN_S.value * NS_PER_S)
SHORTEST_NS = round(calibration.SHORTEST_FREED_S.value * NS_PER_S)
_APART_NS = round(calibration.FREED_APART_S.value * NS_PER_S)


class Wait(NamedTuple):
    """The main thread did nothing from ``begin_ns`` to ``end_ns`` where objects are freed, below ``frames``."""

    begin_ns: int
    end_ns: int
    frames: tuple[Frame, ...]

    @property
    def ns(self) -> int:
        return self.end_ns - self.begin_ns


def freed(log: SampleLog) -> list[Wait]:
    """Return the waits that are long enough to be told from a moment's work; none where they take too little in all."""
    found = [wait for wait in _waits(log) if wait.ns >= SHORTEST_NS]
    return found if sum(wait.ns for wait in found) >= MIN_NS else []


def _waits(log: SampleLog) -> list[Wait]:
    """Return the stretches of samples that show a wait. The first sample in one can't be told from work yet: it counts
    when it shows the same lines."""
    found: list[Wait] = []
    begin, before, frames = 0, 0, None
    for when, stack in log.inside(log.whole):
        same = stack.frames == frames and when - before < _APART_NS
        if stack.activity != "waiting" or not stack.frames:
            begin, frames = when, stack.frames
        elif same and found and found[-1].end_ns == before:
            found[-1] = found[-1]._replace(end_ns=when)
        else:
            found.append(Wait(begin if same else when, when, stack.frames))
            frames = stack.frames
        before = when
    return found
