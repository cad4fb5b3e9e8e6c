"""All files that a session writes, by name: made when first asked for, flushed together, failures told once."""

from __future__ import annotations

import os
from typing import Any

from tfperfkit import room
from tfperfkit.room import Room
from tfperfkit.store import RunDirectory
from tfperfkit.writer import StreamWriter


class Streams:
    """The writers of one run directory in one process; a forked child's are dead from the start."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._pid = os.getpid()
        self._writers: dict[str, StreamWriter] = {}
        self._told: set[str] = set()  # streams whose failure has been told
        self._room: Room | None = None

    def keep_room(self) -> None:
        """Put disk space aside for the end. Raises OSError."""
        self._room = Room(self._run.path, room.LARGE)

    def free_room(self) -> None:
        """Give it back, so that what is written from now on finds room."""
        if self._room is not None:
            self._room.free()

    def session(self, name: str) -> StreamWriter:
        """A stream of the session's own folder."""
        return self.writer(f"session/{name}.jsonl")

    def writer(self, relative: str) -> StreamWriter:
        """The writer of a file below the run directory."""
        writer = self._writers.get(relative)
        if writer is None:
            writer = self._writers[relative] = StreamWriter(self._run.path / relative)
            if os.getpid() != self._pid:
                writer.discard()
        return writer

    def event(self, kind: str, **fields: Any) -> None:
        """Append to the session's events."""
        self.session("events").append({"kind": kind, **fields})

    def flush(self) -> None:
        """Write what is pending; a stream that failed is told in the events, once."""
        for relative, writer in list(self._writers.items()):
            writer.flush()
            self._tell(relative, writer)

    def _tell(self, relative: str, writer: StreamWriter) -> None:
        if writer.failure is not None and relative not in self._told:
            self._told.add(relative)
            self.event("lost", file=relative, reason=writer.failure)

    def costs(self, now: int, markers_ns: int, pulse_ns: int, waited_ns: int | None) -> None:
        """Our own time so far, and how long the training thread has waited for a processor (None: not known)."""
        self.session("cost").append([now, markers_ns, pulse_ns, waited_ns])

    def close(self) -> None:
        """End all streams; the events last, which say what the others lost."""
        events = self.session("events")
        events.flush()
        for relative, writer in list(self._writers.items()):
            if writer is not events:
                writer.close()
                self._tell(relative, writer)
        events.close()

    def discard(self) -> None:
        """In a forked child: nothing inherited may be written twice."""
        for writer in list(self._writers.values()):
            writer.discard()
