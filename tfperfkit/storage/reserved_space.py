"""Disk space kept aside, so that how the script ended and what is missing can be written when the disk has filled."""

from __future__ import annotations

import os
from pathlib import Path

from tfperfkit.storage.descriptors import out_of_the_way

#: What the ending of a run takes.
SMALL = 8 * 1024
#: What the streams may have had to hold back until then.
LARGE = 512 * 1024
#: Of a disk that is nearly full only this part is taken: it is the script's, too.
_SHARE = 4


class Room:
    """Some space in ``folder`` that belongs to no name: whoever holds it may be killed, and nothing is left behind.

    ``size`` in bytes; less when the disk is nearly full. Raises OSError when it has not even SMALL.
    """

    def __init__(self, folder: Path, size: int) -> None:
        free = os.statvfs(folder)
        size = max(SMALL, min(size, free.f_bavail * free.f_frsize // _SHARE))
        self._pid = os.getpid()
        self._descriptor: int | None = out_of_the_way(_unnamed(folder))
        status = os.fstat(self._descriptor)
        self._identity = (status.st_dev, status.st_ino)
        try:
            data = memoryview(os.urandom(size))  # no file system can store less for it
            while data:
                data = data[os.write(self._descriptor, data) :]
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
