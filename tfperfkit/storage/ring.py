"""Streams of which only the first and the last records are kept: files of bounded size, the oldest of them dropped.

Each file has lines as ``records.jsonl`` has; its first one is ``["session/segments",[number,...]]``. The first file is
kept for good: how a run began tells most of it. A full disk ends one file; with the next there is another try.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tfperfkit.storage import safe_reader
from tfperfkit.storage.stream_writer import Stream, StreamFile

SEGMENTS = "session/segments"
_ENDING = ".jsonl"


def _name(number: int) -> str:
    return f"{number:06}{_ENDING}"


class RingStream:
    """A stream that goes on from file to file."""

    def __init__(self, stream: Stream) -> None:
        self.to = stream

    def append(self, record: Any) -> None:
        self.to.append(record)


class Ring:
    """``head()`` is the rest of a file's first line, after its number.

    ``keep`` files of about ``size`` bytes, and the first one where ``pinned``. One thread calls ``flush`` and
    ``close``, any ``append``.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        keep: int,
        *,
        pinned: bool = True,
        head: Callable[[], list[Any]] = list,
    ) -> None:
        self._folder, self._size, self._keep, self._pinned, self._head = folder, size, keep, pinned, head
        self._number = 0
        self._streams: dict[str, RingStream] = {}
        self._before: StreamFile | None = None
        self._file = StreamFile(folder / _name(0))
        self._begin()

    def stream(self, name: str) -> RingStream:
        """Return the stream of this name."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = RingStream(self._file.stream(name))
        return found

    def flush(self) -> None:
        """Write what is pending; begin another file where this one is long enough, or has failed."""
        before, self._before = self._before, None
        if before is not None:  # since the last flush whoever was about to append to it has
            before.close()
        self._file.flush()
        if self._file.written >= self._size or self._file.ended:
            self._next()

    def close(self) -> None:
        if self._before is not None:
            self._before.close()
        self._file.close()

    def discard(self) -> None:
        """In a forked child: what was remembered is the parent's to write."""
        for file in (self._before, self._file):
            if file is not None:
                file.discard()

    def _begin(self) -> None:
        self._file.stream(SEGMENTS).append([self._number, *self._head()])

    def _next(self) -> None:
        self._before, self._number = self._file, self._number + 1
        self._file = StreamFile(self._folder / _name(self._number))
        self._begin()
        for name, stream in list(self._streams.items()):
            stream.to = self._file.stream(name)
        dropped = self._number - self._keep
        if dropped > 0 or (dropped == 0 and not self._pinned):
            with suppress(OSError):
                (self._folder / _name(dropped)).unlink()


def files(root: Path, folder: str) -> list[tuple[int, str]]:
    """Return the numbers and the names (below ``root``) of a ring's files, in order."""
    found = []
    for name in safe_reader.names(root, folder):
        number = name.removesuffix(_ENDING)
        if number.isdigit() and name == _name(int(number)):
            found.append((int(number), f"{folder}/{name}"))
    return sorted(found)
