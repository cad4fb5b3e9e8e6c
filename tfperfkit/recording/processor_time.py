"""How much processor time the process has used, now and then: other programs hardly change it, as they do the clock."""

from __future__ import annotations

from collections.abc import Callable

from tfperfkit.clock import NS_PER_S, now_ns

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
        """Read and write them, if it is time."""
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
