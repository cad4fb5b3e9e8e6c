"""tfperf's files in the script's process, which must not get in the way of the script's own.

A script is given the lowest number that is free, and it may close numbers that it did not open (a daemon closes all).
If a thread of tfperf has a file open for a moment, the file has such a number. Then the script's next file gets another
number; or the script closes tfperf's file, gets its number, and tfperf's ``close`` closes the script's file. So tfperf
opens its files in a table of descriptors that the script's threads don't share (``_apart.c``; see
docs/design/run-directory.md). If there is no such table (not Linux, no C code), files that stay open have high
numbers and are identified before use.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Protocol

from tfperfkit import native

#: Below this number, also where a process may have a million: the kernel's table of them is as long as the highest.
_HIGHEST, _ROOM = 1024, 32
#: A process that may have fewer than this needs them all: then ours are open only while they are used.
_FEW = 128
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
#: The files of a folder, or of the kernel, that are read whole.
_MAX_READ = 1 << 16


class _Table(Protocol):
    """The module ``_apart``: as ``os`` has them, with handles instead of numbers."""

    def start(self) -> None: ...
    def open(self, path: Path | str, flags: int, mode: int = 0o666, /) -> int: ...
    def close(self, handle: int, /) -> None: ...
    def read(self, handle: int, count: int, offset: int, /) -> bytes: ...
    def read_file(self, path: Path | str, limit: int, /) -> bytes: ...
    def write(self, handle: int, data: bytes | memoryview, /) -> int: ...
    def truncate(self, handle: int, size: int, /) -> None: ...
    def size(self, handle: int, /) -> int: ...
    def entries(self, handle: int, /) -> list[str]: ...
    def spent_ns(self) -> int: ...


_table: _Table | None = None  # once our files have a table of their own


def keep_apart() -> bool:
    """Open tfperf's files in a table of their own from now on. Returns whether the process can have one."""
    global _table
    try:
        found: _Table = native.built("tfperfkit.storage._apart")
        found.start()
    except (ImportError, OSError):
        return False
    _table = found
    return True


def spent_ns() -> int:
    """Return the processor time, in ns, of the thread that works on our files; 0 if the calling threads do it."""
    return _table.spent_ns() if _table is not None else 0


def read_file(path: Path | str, limit: int = _MAX_READ) -> bytes:
    """Return the first ``limit`` bytes of a file. Raises OSError."""
    if _table is not None:
        return _table.read_file(path, limit)
    with open(path, "rb") as file:
        return file.read(limit)


def names_in(folder: Path | str) -> list[str]:
    """Return the names in a folder, in no order. Raises OSError."""
    if _table is None:
        return os.listdir(folder)
    handle = _table.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    found: list[str] = []
    try:
        while more := _table.entries(handle):
            found += more
    finally:
        _table.close(handle)
    return [name for name in found if name not in (".", "..")]


class KeptFile:
    """A file that stays open. Methods raise OSError as ``os`` does. A forked child should ``close`` its parent's."""

    def __init__(self, path: Path | str, flags: int, mode: int = 0o644) -> None:
        self.path = path
        self._flags, self._mode = flags | _CLOEXEC, mode
        self._table: _Table | None = None
        self._handle = -1
        self._identity = (0, 0)  # device and inode of the file that we opened
        self._briefly = False

    @property
    def is_open(self) -> bool:
        """Return whether it is. A script may have closed it, and its number may be another file's by now."""
        if self._handle < 0 or self._table is not None:
            return self._handle >= 0
        try:
            return _identity(self._handle) == self._identity
        except OSError:
            return False

    def open(self) -> None:
        """Open it, unless it is open."""
        if self.is_open:
            return
        self._table = _table
        if self._table is not None:
            self._handle = self._table.open(self.path, self._flags, self._mode)
            return
        self._handle = _moved_up(os.open(self.path, self._flags, self._mode))
        self._identity = _identity(self._handle)
        self._briefly = scarce()

    def close(self) -> None:
        """Close it, if it is open and ours. Never raises."""
        if self.is_open:
            with contextlib.suppress(OSError):
                self._table.close(self._handle) if self._table else os.close(self._handle)
        self._handle = -1

    def rest(self) -> None:
        """It is not needed for a while: close it where the process may have few descriptors."""
        if self._briefly:
            self.close()

    def look(self, count: int) -> bytes:
        """Return the first ``count`` bytes, as they are now; opens it where it is not open, or not any more."""
        self.open()
        try:
            return self.read(count, 0)
        finally:
            self.rest()

    def read(self, count: int, offset: int) -> bytes:
        """At most ``count`` bytes from ``offset`` on."""
        return self._table.read(self._handle, count, offset) if self._table else os.pread(self._handle, count, offset)

    def write(self, data: bytes | memoryview) -> int:
        """Returns how many bytes the system took."""
        return self._table.write(self._handle, data) if self._table else os.write(self._handle, data)

    def truncate(self, size: int) -> None:
        """Cut it to ``size`` bytes."""
        self._table.truncate(self._handle, size) if self._table else os.ftruncate(self._handle, size)

    def size(self) -> int:
        """In bytes."""
        return self._table.size(self._handle) if self._table else os.fstat(self._handle).st_size


def scarce() -> bool:
    """Return whether the process may have so few descriptors that none of ours should stay open."""
    limit = _limit()
    return _table is None and limit is not None and limit < _FEW


def _moved_up(descriptor: int) -> int:
    """Return the same file under a high number, which the script does not come to; as it is where there is no such
    number."""
    limit = _limit()
    if limit is None or limit < _FEW:
        return descriptor
    try:
        import fcntl

        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, min(limit, _HIGHEST) - _ROOM)
    except (ImportError, AttributeError, OSError):
        return descriptor
    with contextlib.suppress(OSError):
        os.close(descriptor)
    return high


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _limit() -> int | None:
    """Return how many this process may have; None if the system does not say."""
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return _HIGHEST if soft == resource.RLIM_INFINITY else soft
