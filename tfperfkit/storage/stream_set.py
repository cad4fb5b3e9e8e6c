"""All that a session writes, by name, in one file: made when first asked for, flushed together."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from tfperfkit.records.events import EventKind
from tfperfkit.storage import reserved_space
from tfperfkit.storage.descriptors import scarce
from tfperfkit.storage.reserved_space import Room
from tfperfkit.storage.run_directory import RECORDS, RunDirectory
from tfperfkit.storage.stream_writer import MAX_STREAM_BYTES, Stream, StreamFile, StreamWriter

_EVENTS = "session/events"


class Streams:
    """The streams of one run directory in one process; a forked child's are dead from the start."""

    def __init__(self, run: RunDirectory, limit_bytes: int = MAX_STREAM_BYTES) -> None:
        self._run = run
        self._limit = limit_bytes
        self._pid = os.getpid()
        self._file = StreamFile(run.path / RECORDS)
        self._streams: dict[str, Stream] = {}
        self._reported: set[str] = set()  # streams whose failure has been reported
        self._room: Room | None = None
        for name in ("events", "sites"):  # the first in the file, for markers that are cut off somewhere
            self.session(name)

    def keep_room(self) -> None:
        """Put disk space aside for the end, unless the descriptor for it would be missed. Raises OSError."""
        if scarce():
            return
        self._room = Room(self._run.path, reserved_space.LARGE)

    def free_room(self) -> None:
        """Give it back, so that what is written from now on finds room."""
        if self._room is not None:
            self._room.free()

    def session(self, name: str) -> Stream:
        """Return a stream of the session's own."""
        return self.stream(f"session/{name}")

    def stream(self, name: str) -> Stream:
        """Return the stream of this name."""
        stream = self._streams.get(name)
        if stream is None:
            if os.getpid() != self._pid:
                self._file.discard()
            stream = self._streams[name] = self._file.stream(name, self._limit, essential=name == _EVENTS)
        return stream

    def event(self, kind: EventKind, **fields: Any) -> None:
        """Append to the session's events."""
        self.session("events").append({"kind": kind, **fields})

    def flush(self) -> None:
        """Write what is pending; a stream that failed is reported in the events, once."""
        self._file.flush()
        self._tell()

    def _tell(self) -> None:
        for name, stream in list(self._streams.items()):
            if stream.failure is not None and name not in self._reported:
                self._reported.add(name)
                self.event(
                    "lost", file=f"{name}.jsonl", reason=stream.failure, not_json=stream.not_json, full=stream.full
                )

    def close(self) -> None:
        """End all streams.

        If their file takes no more, the last events get a file of their own: they say what is missing.
        """
        self.flush()
        self._file.close()
        events = self.session("events")
        self._tell()
        self._file.flush()
        if self._file.left:
            rest = StreamWriter(self._run.session / "events.jsonl")
            for line in self._file.left.splitlines():
                rest.append(msgspec.Raw(line[len(events.head) : -1]))
            rest.close()

    def discard(self) -> None:
        """In a forked child: nothing inherited may be written twice."""
        self._file.discard()
