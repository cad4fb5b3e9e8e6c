"""Which other threads that Python started hardly ever wait, by the system's own figures for each (Linux).

Python's threads take turns at the interpreter's lock: a thread that never waits takes the lock whenever the training
thread releases it, for ``sys.getswitchinterval()`` (5 ms) or until it waits itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tfperfkit.clock import NS_PER_S
from tfperfkit.storage.descriptors import read_file

#: Between two readings of a thread's time: a reading takes 20 us.
_EVERY_NS = NS_PER_S
#: So many threads are looked at; one that ran, or was ready to, for this share of the time is busy.
_MAX_THREADS, _BUSY = 32, 0.5


class BusyThreads:
    """``write`` gets a row for each thread that was busy since the last reading: ``["ran", when, thread, ns
    on a processor or ready for one, ns since the last reading]``."""

    def __init__(self, write: Callable[[list[Any]], object]) -> None:
        self._write = write
        self._ran: dict[tuple[int, int], int] = {}  # by thread, as Python and as the system number it
        self._read_ns = 0
        self._works = True
        self.threads: tuple[int, ...] = ()

    def look(self, now: int, driver: int) -> tuple[int, ...]:
        """Return the threads that were busy at the last reading, without ``driver``, the training thread."""
        passed = now - self._read_ns
        if passed < _EVERY_NS or not self._works:
            return self.threads
        self._read_ns = now
        try:
            self.threads = tuple(self._read(now, passed, driver))
        except Exception:  # of threads that are another library's
            self._works, self.threads = False, ()
        return self.threads

    def _read(self, now: int, passed: int, driver: int) -> Iterator[int]:
        # Read without the lock that ``threading.enumerate`` takes: the script's threads never wait for us.
        active = getattr(threading, "_active", {})
        known, self._ran = self._ran, {}
        if len(active) < 2:
            return
        for ident, thread in list(active.items())[:_MAX_THREADS]:
            native = getattr(thread, "native_id", None)
            if ident == driver or native is None:
                continue
            ran = self._ran[ident, native] = self._active_ns(native)
            before = known.get((ident, native))
            if before is not None and ran - before >= _BUSY * passed:
                self._write(["ran", now, ident, ran - before, passed])
                yield ident

    def _active_ns(self, native: int) -> int:
        try:
            words = read_file(f"/proc/{os.getpid()}/task/{native}/schedstat").split()
            return int(words[0]) + int(words[1])
        except FileNotFoundError:
            return 0  # it has just ended
        except (OSError, ValueError, IndexError):
            self._works = False
            return 0
