"""A trace as tracks: what an XPlane file and a Chrome trace have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from tfperfkit.xplane.columns import Coded, Ints
from tfperfkit.xplane.hlo import Module


class Track(Protocol):
    """A thread of the host or a stream of a device. Times are in ps since the session began, by event."""

    name: str
    kind: Ints
    begin_ps: Ints
    duration_ps: Ints

    def __len__(self) -> int: ...
    def name_of(self, kind: int, /) -> str: ...
    def coded(self, names: Sequence[str], which: Ints | None = None, /) -> dict[str, Coded]: ...
    def numbers(self, name: str, which: Ints | None = None, /) -> Ints: ...


class Device(Protocol):
    """An accelerator: its properties and its tracks."""

    name: str
    stats: dict[str, Any]

    def tracks(self) -> Iterator[Track]: ...


class HostTrace(Protocol):
    """Records of one host.

    ``words``: what the profiler itself says of errors; ``remarks``: what a reader should know. ``until_ps``: of a trace
    that is too large only what begins before it is given; None: all.
    """

    host: str
    words: tuple[str, ...]
    remarks: tuple[str, ...]
    until_ps: int | None

    def devices(self) -> Sequence[Device]: ...
    def host_tracks(self, keep: Callable[[str], bool], /) -> Iterator[Track]: ...
    def modules(self) -> dict[str, Module]: ...


class Event(msgspec.Struct):
    """One event of a Chrome trace, times in µs."""

    ph: str = ""
    cat: str | None = None
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: float | None = None
    dur: float | None = None
    args: dict[str, Any] | None = None
