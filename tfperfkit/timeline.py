"""Rows that a probe may add to the timeline that ``tfperf export`` writes. Optional: see ``TimelineProbe``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol, runtime_checkable

import msgspec

from tfperfkit.probe import Capture, Probe

#: Called now and then with the number of events read so far, for a progress line.
Tick = Callable[[int], None]


class Slice(NamedTuple):
    """Something that lasted. Slices of one track must nest. Times are nanoseconds of ``clock.now_ns``."""

    group: str  # "TensorFlow /host:CPU"
    track: str  # a thread, a stream, a kind of thing
    name: str
    begin_ns: float
    duration_ns: float
    args: Mapping[str, object] = {}


class Timeline(msgspec.Struct):
    """Rows of one probe. ``slices`` is read once; ``notes`` tell how times were aligned and what was left out."""

    slices: Iterator[Slice]
    notes: tuple[str, ...] = ()


@runtime_checkable
class TimelineProbe(Probe, Protocol):
    """A probe that recorded what ran when."""

    def timeline(self, capture: Capture, limit: int, tick: Tick, /) -> Timeline:
        """At most ``limit`` slices, the longest ones if there are more. Reads files only, in bounded memory.

        Raises ``Unavailable`` when nothing can be shown.
        """
