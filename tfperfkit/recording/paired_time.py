"""What a process had of processors just before a sample, where samples stand far apart.

The samples of a process that trains with others tell its computing from its waiting by the processor time between two
of them. Those of watch mode are seconds apart, so each has a reading of its own shortly before it.
"""

from __future__ import annotations

from collections.abc import Callable


class PairedTime:
    """``due`` before each sample, on the pulse's thread; then called, it is what the sample's row ends with."""

    def __init__(self, used_ns: Callable[[], int]) -> None:
        self._used_ns = used_ns
        self._before: tuple[int, int] | None = None

    def due(self, now: int) -> bool:
        """Whether this is the moment before a sample, which is to be taken ``FAST_S`` later."""
        if self._before is not None:
            return False
        self._before = now, self._used_ns()
        return True

    def __call__(self) -> tuple[int, ...]:
        """The processor time until now, and of the reading before it when that was and its value (all in ns)."""
        before, self._before = self._before, None
        return self._used_ns(), *(before or ())
