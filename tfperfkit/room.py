"""Disk space kept aside, so that how the script ended and what is missing can be written when the disk has filled."""

from __future__ import annotations

import os
from pathlib import Path

_BYTES = 8192


class Room:
    """Some space in ``folder`` that belongs to no name: whoever holds it may be killed, and nothing is left behind.

    Raises OSError when the disk has not even that.
    """

    def __init__(self, folder: Path) -> None:
        self._pid = os.getpid()
        self._descriptor: int | None = _unnamed(folder)
        status = os.fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
        try:
            os.write(self._descriptor, os.urandom(_BYTES))  # no file system can store less for it
        except OSError:
            self.free()
            raise

    def free(self) -> None:
        """Give the space back. In a forked child that is not ours to do."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None or os.getpid() != self._pid:
            return
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != self._identity:
                return  # the script has closed it, and the number is another file's by now
            os.ftruncate(descriptor, 0)  # a child that was forked holds the file open too
            os.close(descriptor)
        except OSError:
            pass


def _unnamed(folder: Path) -> int:
    flags = os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
    if hasattr(os, "O_TMPFILE"):
        try:
            return os.open(folder, flags | os.O_TMPFILE, 0o600)
        except OSError:
            pass  # not every file system can
    name = folder / f".room.{os.getpid()}"
    descriptor = os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o600)
    name.unlink()
    return descriptor
