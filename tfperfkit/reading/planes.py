"""An XPlane file as tracks, and how much of a large one is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfperfkit.reading.tracks import Device, HostTrace, Track
from tfperfkit.xplane.columns import begin_at, columns
from tfperfkit.xplane.hlo import Module, read_modules
from tfperfkit.xplane.names import HOST
from tfperfkit.xplane.reader import Plane, Space, open_space

#: Of larger traces, all hosts together, the first part is read: a file is mapped and read line by line, and what is
#: kept of it takes two to three times as much.
WHOLE_BYTES = 500_000_000
#: Larger files are refused: to pass over one of this size takes minutes.
MAX_BYTES = 100_000_000_000
_HOST = (HOST, "/host:TFStreamz", "/host:python-tracer", "/host:CUPTI", "/host:ROCTRACER")

Progress = Callable[[int], None]


class _Device:
    def __init__(self, plane: Plane, progress: Progress, until_ps: int | None) -> None:
        self.name = plane.name
        self.stats: dict[str, Any] = plane.stats
        self._plane = plane
        self._progress = progress
        self._until_ps = until_ps

    def tracks(self) -> Iterator[Track]:
        return columns(self._plane, progress=self._progress, until_ps=self._until_ps)


class PlaneTrace:
    """One host's XPlane file. ``share``: of its bytes, how many are read at most."""

    def __init__(self, space: Space, host: str, progress: Progress, share: float = 1.0) -> None:
        self.host = host
        self.remarks: tuple[str, ...] = ()
        self.words = (*space.errors, *space.warnings)
        self._space = space
        self._progress = progress
        read = [plane for plane in space.planes if plane.name in _HOST or plane in space.devices()]
        self.until_ps = until(read, share, progress) if share < 1 else None

    def devices(self) -> Sequence[Device]:
        return [_Device(plane, self._progress, self.until_ps) for plane in self._space.devices()]

    def host_tracks(self, keep: Callable[[str], bool], /) -> Iterator[Track]:
        for plane in self._space.planes:
            if plane.name in _HOST:
                yield from columns(plane, keep, progress=self._progress, until_ps=self.until_ps)

    def modules(self) -> dict[str, Module]:
        return read_modules(self._space)


@contextmanager
def open_planes(file: Path, progress: Progress, share: float = 1.0) -> Iterator[Sequence[HostTrace]]:
    """Open a file; of its bytes this share is read at most. Raises ``Unavailable`` with the reason when it can't be
    read."""
    with open_space(file, MAX_BYTES) as space:
        yield (PlaneTrace(space, file.name.removesuffix(".xplane.pb"), progress, share),)


def share_of(files: Sequence[Path]) -> float:
    """Return how much of these files is read."""
    return min(1.0, WHOLE_BYTES / max(sum(file.stat().st_size for file in files), 1))


#: Lines with fewer bytes than this (about a thousand events) do not show how far the others are.
_LONG = 1 << 15
#: If no line is that long, this many of the largest are used.
_LARGEST = 100


def until(planes: Iterable[Plane], share: float, progress: Callable[[int], None] | None = None) -> int | None:
    """Return the moment (ps since the session began) until which the first ``share`` of the file has all events.

    Each line is written in the order of time. The same share of the bytes of each long line is skipped, and the line
    that has come least far decides. None without events. Raises ``Unavailable`` for a damaged file.
    """
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
