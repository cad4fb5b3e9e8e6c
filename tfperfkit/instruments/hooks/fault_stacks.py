"""Python's ``faulthandler`` for as long as a window of ours is open: the stacks of a process that is struck by a fault.

They go to a file of the run directory. The script's own use of it comes first: where it is on already, or the script
has a handler for one of its signals, it is left alone; a script that switches it on meanwhile gets it as ever.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
import weakref
from _thread import get_ident
from contextlib import suppress
from pathlib import Path
from typing import Any

_SIGNALS = [
    getattr(signal, name) for name in ("SIGSEGV", "SIGFPE", "SIGABRT", "SIGBUS", "SIGILL") if hasattr(signal, name)
]

_FEW = 128


class _File:
    """The file that faulthandler writes to.

    It alone holds it: once it is gone, faulthandler writes elsewhere or not at all.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def flush(self) -> None:
        return None


class FaultStacks:
    """``begin`` on the main thread (on others it does nothing), ``end`` on any. Neither raises."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: weakref.ref[_File] | None = None
        self._descriptor = -1
        self._identity = (0, 0)
        self._handlers: list[Any] = []
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Switch it on, unless it is."""
        with suppress(Exception), self._lock:
            handlers = _handlers()
            if self._file is None and get_ident() == threading.main_thread().ident and _untouched(handlers):
                self._begin(handlers)

    def end(self, forked: bool = False) -> None:
        """Switch it off, if it is still ours; also what a ``forked`` child inherited."""
        if forked:
            self._lock = threading.Lock()  # the parent's other thread may have held it
        with suppress(Exception), self._lock:
            if self._file is not None and self._is_ours():
                self._end()

    def _begin(self, handlers: list[Any]) -> None:
        self._descriptor = _opened(self._path)
        status = os.fstat(self._descriptor)
        self._identity, self._handlers = (status.st_dev, status.st_ino), handlers
        file = _File(self._descriptor)
        faulthandler.enable(file=file, all_threads=True)
        self._file = weakref.ref(file)

    def _is_ours(self) -> bool:
        """Return whether the handler is ours. One that the script has set meanwhile would be lost: faulthandler brings
        back those that it found."""
        if self._file is not None and self._file() is None:
            self._close()  # the script has switched it on for itself, or off
            return False
        return _handlers() == self._handlers

    def _end(self) -> None:
        faulthandler.disable()
        self._close()

    def _close(self) -> None:
        self._file = None
        status = os.fstat(self._descriptor)
        if (status.st_dev, status.st_ino) == self._identity:  # else the script has closed all and taken the number
            os.close(self._descriptor)


def _opened(path: Path) -> int:
    """Open a descriptor at a high number, which the script does not come to. Raises OSError where it may have only
    few."""
    import fcntl
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if 0 <= limit < _FEW:
        raise OSError("too few descriptors")
    low = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        return fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, (limit if 0 <= limit < 1024 else 1024) - 32)
    finally:
        os.close(low)


def _handlers() -> list[Any]:
    return [signal.getsignal(number) for number in _SIGNALS]


def _untouched(handlers: list[Any]) -> bool:
    return not faulthandler.is_enabled() and all(handler == signal.SIG_DFL for handler in handlers)
