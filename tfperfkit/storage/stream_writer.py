"""Append-only files of JSON lines that survive full disks, closed descriptors and any content of a record.

A file holds one stream, or many: then a line is ``["name",record]``.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.storage.descriptors import KeptFile

#: No single stream grows beyond this; what comes later is counted as lost.
MAX_STREAM_BYTES = 24 * 1024 * 1024
#: Nor do all streams of a file beyond this, of which the last part is for what says what is missing.
MAX_FILE_BYTES = 60 * 1024 * 1024
RESERVED_BYTES = 1024 * 1024
#: Bytes that are freed on a full disk, for the lines of essential streams.
LAST_BYTES = 8 * 1024
#: Records that could not be written are held for the next try up to this size.
MAX_HELD_BYTES = 2 * 1024 * 1024
_PAUSE_RECORDS = 4096  # a stream that nobody flushes is flushed by its writer


def plain(value: Any) -> Any:
    """For msgspec's ``enc_hook``: NumPy's numbers and arrays as Python's, anything else that is foreign as words."""
    as_list = getattr(value, "tolist", None)
    return as_list() if callable(as_list) else str(value)


encoder = msgspec.json.Encoder(enc_hook=plain)


class Stream:
    """Records of one kind on their way into a file. ``append`` only remembers; the file's ``flush`` writes.

    A record that can't be encoded costs itself only. ``lost`` counts the records that are missing and ``failure`` says
    why; ``not_json``: a record, not the disk, was at fault; ``full``: it reached its size and lacks its end only.
    ``essential``: it may use the file's last part, too.
    """

    def __init__(self, file: StreamFile, name: str, limit_bytes: int, essential: bool) -> None:
        self.lost = 0
        self.failure: str | None = None
        self.not_json = False
        self.full = False
        self.essential = essential
        self._pending: list[Any] = []
        self._file = file
        self._taken = 0
        self._limit = limit_bytes
        self.head, self._tail = (b"[" + encoder.encode(name) + b",", b"]\n") if name else (b"", b"\n")

    def append(self, record: Any) -> None:
        self._pending.append(record)
        if len(self._pending) >= _PAUSE_RECORDS:
            self._file.flush()

    def take(self, room: int) -> bytes:
        """Return the pending records as lines; at most ``room`` bytes, else nothing more ever."""
        # Swapping the list is atomic under the GIL, so appending threads never wait for a disk.
        pending, self._pending = self._pending, []
        if not pending:
            return b""
        if self.full:
            self.lost += len(pending)
            return b""
        try:
            data = b"".join([self._encoded(record) for record in pending])
        except BaseException:  # a Ctrl-C: the next flush has them
            self._pending = pending + self._pending
            raise
        room = min(room, self._limit - self._taken)
        if len(data) > room:
            self.full = True
            limit = self._limit if room == self._limit - self._taken else MAX_FILE_BYTES
            self.miss(data.count(b"\n"), f"more than {limit // (1024 * 1024)} MB")
            return b""
        self._taken += len(data)
        return data

    def miss(self, records: int, reason: str) -> None:
        """So many are lost."""
        self.lost += records
        if records:
            self.failure = reason

    def drop(self, reason: str | None) -> None:
        """Drop the pending records, for a ``reason``; without one it is another process's to write."""
        pending, self._pending = self._pending, []
        if reason is not None and pending:
            self.miss(len(pending), self.failure or reason)

    @property
    def waits(self) -> bool:
        """Return whether something is pending."""
        return bool(self._pending)

    def _encoded(self, record: Any) -> bytes:
        try:
            return self.head + encoder.encode(record) + self._tail
        except Exception as error:  # foreign objects raise what they like
            self.lost += 1
            if self.failure is None:
                self.not_json = True
                self.failure = f"a record can't be written as JSON ({type(error).__name__}: {error})"
            return b""


class StreamFile:
    """A file of streams, opened once; where the process may have few descriptors, open only while it is written.

    Lines that a full disk does not take are held in memory, bounded, and tried again with each flush; when the file is
    closed they are lost, but for the lines of essential streams, which are then in ``left``.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left = b""
        self._streams: list[Stream] = []
        self._held = b""  # whole lines that the disk did not take
        self._written = 0
        self._base = 0  # what the file held before us, in bytes
        self._file = KeptFile(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._ended = False
        self._writing = threading.Lock()

    @property
    def written(self) -> int:
        """Bytes that we have written."""
        return self._written

    @property
    def ended(self) -> bool:
        """Return whether nothing more will be written."""
        return self._ended

    def stream(self, name: str = "", limit_bytes: int = MAX_STREAM_BYTES, essential: bool = False) -> Stream:
        """Open a new stream; without a name the only one."""
        made = Stream(self, name, limit_bytes, essential)
        self._streams.append(made)
        return made

    def flush(self) -> None:
        # Never waits: a thread that finds a write under way (on another thread, or on this one when the garbage
        # collector or a signal calls back in the middle of the write) leaves its records to the next.
        if self._writing.acquire(blocking=False):
            try:
                self._flush()
            finally:
                self._writing.release()

    def close(self) -> None:
        """Write what is left and end the file. Waits at most a second for a write that is under way."""
        if not self._writing.acquire(timeout=1.0):
            for stream in self._streams:
                stream.drop("a write did not end")
            return
        try:
            self._flush()
            self._flush(last=True)  # with what was appended from within the write
        finally:
            self._file.close()
            self._ended = True
            self._writing.release()

    def discard(self) -> None:
        """In a forked child: what was remembered is the parent's to write, and nothing more comes from here."""
        self._writing = threading.Lock()  # the parent's other thread may have held it as we were forked
        self._ended = True
        self._held = b""
        for stream in list(self._streams):
            stream.drop(None)
        self._file.close()

    def _flush(self, last: bool = False) -> None:
        streams = list(self._streams)
        if self._ended:
            for stream in streams:
                if stream.essential:
                    self.left += stream.take(RESERVED_BYTES - len(self.left))
                else:
                    stream.drop("closed")
            return
        data = self._held
        for stream in streams:
            if stream.waits:
                room = MAX_FILE_BYTES - self._written - len(data) - (0 if stream.essential else RESERVED_BYTES)
                try:
                    data += stream.take(room)
                except BaseException:  # a Ctrl-C: the next flush has what was taken
                    self._held = data
                    raise
        if not data:
            return
        taken = 0
        try:
            self._open()
            while taken < len(data):
                taken += self._file.write(memoryview(data)[taken:])
            self._held = b""
        except BaseException as error:  # a Ctrl-C too: what it cuts short is held and written by the next flush
            taken = data.rfind(b"\n", 0, taken) + 1
            self._held = data[taken:]
            if self._file.is_open:
                with contextlib.suppress(OSError):  # half a line would hide the next
                    self._file.truncate(self._base + self._written + taken)
            if last or len(self._held) > MAX_HELD_BYTES:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                self._end(reason)
            if not isinstance(error, Exception):
                self._written += taken
                raise
        self._written += taken
        self._file.rest()

    def _end(self, reason: str) -> None:
        lines, self._held, self._ended = self._held.splitlines(keepends=True), b"", True
        if any(stream.essential for stream in self._streams):
            with contextlib.suppress(OSError):
                lines = [*self._given_back(), *lines]
        for stream in self._streams:
            missing = [line for line in lines if line.startswith(stream.head)]
            if stream.essential:
                self.left += b"".join(missing)
            else:
                stream.miss(len(missing), reason)

    def _given_back(self) -> list[bytes]:
        """Take the last lines out of the file and return them: so that the missing records can be reported in a file of
        its own.
        """
        if not self._file.is_open:
            return []
        size = self._file.size()
        begin = max(self._base, size - LAST_BYTES)
        last = self._file.read(size - begin, begin)
        whole = last.find(b"\n") + 1 if begin > self._base else 0
        self._file.truncate(begin + whole)
        return last[whole:].splitlines(keepends=True)

    def _open(self) -> None:
        if self._file.is_open:
            return
        self.path.parent.mkdir(exist_ok=True)  # not its parents: who removed the run directory meant it
        self._file.open()
        self._base = self._file.size() - self._written


class StreamWriter(StreamFile):
    """A file of one stream."""

    def __init__(self, path: Path, limit_bytes: int = MAX_STREAM_BYTES) -> None:
        super().__init__(path)
        self._only = self.stream(limit_bytes=limit_bytes)
        self.append = self._only.append

    @property
    def lost(self) -> int:
        return self._only.lost

    @property
    def failure(self) -> str | None:
        return self._only.failure

    @property
    def not_json(self) -> bool:
        return self._only.not_json
