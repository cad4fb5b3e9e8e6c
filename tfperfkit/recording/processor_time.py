"""How much CPU time the process and its threads used, read from time to time: other programs hardly change it, unlike
wall-clock time."""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.clock import NS_PER_S, now_ns
from tfperfkit.instruments.contention import all_threads_ns

#: Between two readings, and from when on they become rarer: a run that lasts twice as long has some 140 more.
_EVERY_NS, _PART = NS_PER_S // 50, 200
#: The thread that reads was itself put aside between two clocks: they don't belong to the same moment.
_APART_NS = NS_PER_S // 1000


class ProcessorTime:
    """Each record is (when, processor time so far, how long the training thread waited for a processor so far or None),
    all in ns. ``used`` and ``waited`` tell them."""

    def __init__(
        self, append: Callable[[list[int | None]], object], used: Callable[[], int], waited: Callable[[], int | None]
    ) -> None:
        self._append, self._used, self._waited = append, used, waited
        self._begun = self._next = 0

    def note(self, now: int) -> None:
        """Read and append them if it is time."""
        if now < self._next:
            return
        self._begun = self._begun or now
        waited = self._waited()
        when = now_ns()
        used = self._used()
        if now_ns() - when > _APART_NS:
            return  # the next tick tries again
        self._next = now + max(_EVERY_NS, (now - self._begun) // _PART)
        self._append([when, used, waited])


#: The time between two readings; in watch mode this share of the run's age, or a minute.
_EVERY_NS = 2 * NS_PER_S
_PART, _RARE_NS = 50, 60 * NS_PER_S


class ThreadTimes:
    """How long all threads ran and waited for a CPU core: records of (when, times), all in ns. Other ranks wait for a
    process that lacks cores. ``rarely``: for runs of days."""

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


class PairedTime:
    """The CPU time shortly before a sample, if samples are seconds apart (watch mode).

    The CPU time between two samples tells computing from waiting in a process that trains with others. ``due`` is asked
    before each sample, on the pulse's thread; a call returns what the sample's row ends with.
    """

    def __init__(self, used_ns: Callable[[], int]) -> None:
        self._used_ns = used_ns
        self._before: tuple[int, int] | None = None

    def due(self, now: int) -> bool:
        """Return whether a sample is to be taken ``FAST_S`` from now."""
        if self._before is not None:
            return False
        self._before = now, self._used_ns()
        return True

    def __call__(self) -> tuple[int, ...]:
        """Return the CPU time until now, and the time and value of the reading before it, all in ns."""
        before, self._before = self._before, None
        return self._used_ns(), *(before or ())
