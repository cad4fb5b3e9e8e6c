"""An XPlane file as tracks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfperfkit.reading.tracks import Device, HostTrace, Track
from tfperfkit.xplane.columns import columns
from tfperfkit.xplane.hlo import Module, read_modules
from tfperfkit.xplane.reader import Plane, Space, open_space

#: Larger files are refused. A file is mapped and read line by line: one of this size takes about twice that.
MAX_BYTES = 8_000_000_000
_HOST = ("/host:CPU", "/host:TFStreamz", "/host:python-tracer", "/host:CUPTI", "/host:ROCTRACER")

Progress = Callable[[int], None]


class _Device:
    def __init__(self, plane: Plane, progress: Progress) -> None:
        self.name = plane.name
        self.stats: dict[str, Any] = plane.stats
        self._plane = plane
        self._progress = progress

    def tracks(self) -> Iterator[Track]:
        return columns(self._plane, progress=self._progress)


class PlaneTrace:
    """One host's XPlane file."""

    def __init__(self, space: Space, host: str, progress: Progress) -> None:
        self.host = host
        self.words = (*space.errors, *space.warnings)
        self._space = space
        self._progress = progress

    def devices(self) -> Sequence[Device]:
        return [_Device(plane, self._progress) for plane in self._space.devices()]

    def host_tracks(self, keep: Callable[[str], bool], /) -> Iterator[Track]:
        for plane in self._space.planes:
            if plane.name in _HOST:
                yield from columns(plane, keep, progress=self._progress)

    def modules(self) -> dict[str, Module]:
        return read_modules(self._space)


@contextmanager
def open_planes(file: Path, progress: Progress) -> Iterator[HostTrace]:
    """An open file. Raises ``Unavailable`` with the reason when it can't be read."""
    with open_space(file, MAX_BYTES) as space:
        yield PlaneTrace(space, file.name.removesuffix(".xplane.pb"), progress)
