"""How much all threads ran and waited for a processor, now and then.

A process that is short of processors is waited for by those that train with it.
"""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.contention import all_threads_ns

#: Between two readings; of a run in watch mode after such a part of its age, or a minute.
_EVERY_NS = 2 * NS_PER_S
_PART, _RARE_NS = 50, 60 * NS_PER_S


class ThreadTimes:
    """Each record is (when, the threads' times), all in ns. ``rarely``: for days."""

    def __init__(self, append: Callable[[list[int]], object], *, rarely: bool = False) -> None:
        self._append = append
        self._begun, self._rarely = now_ns(), rarely
        self._next = 0

    def note(self) -> None:
        """Read and write them, if it is time."""
        now = now_ns()
        if now >= self._next:
            rare = min((now - self._begun) // _PART, _RARE_NS) if self._rarely else 0
            self._next = now + max(_EVERY_NS, rare)
            if (found := all_threads_ns()) is not None:
                self._append([now, *found])
