"""How much all threads ran and waited for a processor, now and then.

A process that is short of processors is waited for by those that train with it.
"""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.contention import all_threads_ns

#: Between two readings.
_EVERY_NS = 2 * NS_PER_S


class ThreadTimes:
    """Each record is (when, the threads' times), all in ns."""

    def __init__(self, append: Callable[[list[int]], object]) -> None:
        self._append = append
        self._next = 0

    def note(self) -> None:
        """Read and write them, if it is time."""
        now = now_ns()
        if now >= self._next:
            self._next = now + _EVERY_NS
            if (found := all_threads_ns()) is not None:
                self._append([now, *found])
