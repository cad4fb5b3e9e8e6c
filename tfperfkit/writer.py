"""Append-only files of JSON lines that survive full disks, closed descriptors and whatever stands in a record."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

#: No single stream grows beyond this; what comes later is counted as lost.
MAX_STREAM_BYTES = 24 * 1024 * 1024
#: What could not be written is held for the next try up to this size.
MAX_HELD_BYTES = 2 * 1024 * 1024
_PAUSE_RECORDS = 4096  # a stream that nobody flushes is flushed by its writer

#: How the ``failure`` of a stream begins when a record, not the disk, was at fault.
NOT_JSON = "a record can't be written as JSON"


def plain(value: Any) -> Any:
    """For msgspec's ``enc_hook``: NumPy's numbers and arrays as Python's, anything else that is foreign as words."""
    as_list = getattr(value, "tolist", None)
    return as_list() if callable(as_list) else str(value)


encoder = msgspec.json.Encoder(enc_hook=plain)


class StreamWriter:
    """One stream. ``append`` only remembers; ``flush`` encodes and writes.

    What a full disk does not take is held in memory, bounded, and tried again with each flush; when the stream is
    closed it is lost. A record that can't be encoded costs itself only. ``lost`` counts the records that are missing
    and ``failure`` says why.
    """

    def __init__(self, path: Path, limit_bytes: int = MAX_STREAM_BYTES) -> None:
        self.path = path
        self.lost = 0
        self.failure: str | None = None
        self._pending: list[Any] = []
        self._held = b""  # whole lines that the disk did not take
        self._written = 0
        self._base = 0  # what the file held before us, in bytes
        self._limit = limit_bytes
        self._descriptor = -1
        self._identity = (0, 0)  # device and inode of the file that we opened
        self._ended = False
        self._writing = threading.Lock()

    def append(self, record: Any) -> None:
        self._pending.append(record)
        if len(self._pending) >= _PAUSE_RECORDS:
            self.flush()

    def flush(self) -> None:
        # Never waits: who finds a write under way (on another thread, or on this one when the garbage collector or a
        # signal calls back in the middle of it) leaves its records to the next.
        if self._writing.acquire(blocking=False):
            try:
                self._flush()
            finally:
                self._writing.release()

    def close(self) -> None:
        """Write what is left and end the stream. Waits at most a second for a write that is under way."""
        if not self._writing.acquire(timeout=1.0):
            self.failure = self.failure or "a write did not end"
            self.lost += len(self._pending)
            return
        try:
            self._flush()
            self._flush(last=True)  # with what was appended from within the write
        finally:
            self._close()
            self._ended = True
            self._writing.release()

    def discard(self) -> None:
        """In a forked child: what was remembered is the parent's to write, and nothing more comes from here."""
        self._writing = threading.Lock()  # the parent's other thread may have held it as we were forked
        self._ended = True
        self._pending, self._held = [], b""
        self._close()

    def _flush(self, last: bool = False) -> None:
        # Swapping the list is atomic under the GIL, so appending threads never wait for a disk.
        pending, self._pending = self._pending, []
        if self._ended:
            self.lost += len(pending)
            self.failure = self.failure or ("closed" if pending else None)
            return
        try:
            data = self._held + b"".join(self._encoded(pending))
        except BaseException:  # a Ctrl-C: the next flush has them
            self._pending = pending + self._pending
            raise
        if not data:
            return
        if self._written + len(data) > self._limit:
            self._end(f"more than {self._limit // (1024 * 1024)} MB", data)
            return
        taken = 0
        try:
            descriptor = self._opened()
            while taken < len(data):
                taken += os.write(descriptor, memoryview(data)[taken:])
            self._held = b""
        except BaseException as error:  # a Ctrl-C too: what it cuts short is held and written by the next flush
            taken = data.rfind(b"\n", 0, taken) + 1
            self._held = data[taken:]
            if self._is_ours():
                with contextlib.suppress(OSError):  # half a line would hide the next
                    os.ftruncate(self._descriptor, self._base + self._written + taken)
            if last or len(self._held) > MAX_HELD_BYTES:
                reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
                self._end(reason, self._held)
            if not isinstance(error, Exception):
                self._written += taken
                raise
        self._written += taken

    def _end(self, reason: str, missing: bytes) -> None:
        self._ended, self._held = True, b""
        self.failure = reason
        self.lost += missing.count(b"\n")

    def _encoded(self, records: list[Any]) -> Iterator[bytes]:
        for record in records:
            try:
                yield encoder.encode(record) + b"\n"
            except Exception as error:  # foreign objects raise what they like
                self.lost += 1
                self.failure = self.failure or f"{NOT_JSON} ({type(error).__name__}: {error})"

    # --- the descriptor -------------------------------------------------------------------------------------------

    def _opened(self) -> int:
        if self._is_ours():
            return self._descriptor
        # A script may close all descriptors (a daemon does): the number may be another file's by now, not ours to use.
        self.path.parent.mkdir(exist_ok=True)  # not its parents: who removed the run directory meant it
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(self.path, flags, 0o644)
        status = os.fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
        self._base = status.st_size - self._written
        return self._descriptor

    def _is_ours(self) -> bool:
        if self._descriptor < 0:
            return False
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def _close(self) -> None:
        if self._is_ours():
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
        self._descriptor = -1
