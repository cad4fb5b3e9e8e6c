"""Disk space kept aside, so that how the script ended and what is missing can be written when the disk has filled."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from tfperfkit.storage.descriptors import KeptFile

#: Space that the ending of a run takes.
SMALL = 8 * 1024
#: Space that the streams may have had to hold back until then.
LARGE = 512 * 1024
#: Only this part of a disk that is nearly full is taken: it is the script's, too.
_SHARE = 4


class Room:
    """Some space in ``folder`` that belongs to no name: whoever holds it may be killed, and nothing is left behind.

    ``size`` in bytes; less when the disk is nearly full. Raises OSError when it has not even SMALL.
    """

    def __init__(self, folder: Path, size: int) -> None:
        free = os.statvfs(folder)
        size = max(SMALL, min(size, free.f_bavail * free.f_frsize // _SHARE))
        self._pid = os.getpid()
        self._file = _unnamed(folder)
        try:
            data = memoryview(os.urandom(size))  # no file system can store less for it
            while data:
                data = data[self._file.write(data) :]
        except OSError:
            self.free()
            raise

    def free(self) -> None:
        """Give the space back. In a forked child that is not ours to do."""
        if os.getpid() == self._pid and self._file.is_open:
            with contextlib.suppress(OSError):
                self._file.truncate(0)  # a child that was forked may hold the file open too
            self._file.close()


def _unnamed(folder: Path) -> KeptFile:
    if hasattr(os, "O_TMPFILE"):
        file = KeptFile(folder, os.O_RDWR | os.O_TMPFILE, 0o600)
        with contextlib.suppress(OSError):  # not every file system can
            file.open()
            return file
    name = folder / f".room.{os.getpid()}"
    file = KeptFile(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    file.open()
    name.unlink()
    return file
