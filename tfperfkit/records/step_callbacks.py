"""Whom of a probe to tell of a step as it begins: the bookkeeping behind ``Recording.on_step``."""

from __future__ import annotations

from collections.abc import Callable

#: Callbacks that want a step now and then hear of so many at first.
EARLY = 500


class StepCallbacks:
    """The callbacks of one recording.

    An exception of a callback goes to ``failed``, and no callback is called again.
    """

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._callbacks: list[Callable[[int], bool | None]] = []
        self._each = self._again = False  # a callback wants every step; one wants the next
        self.rare = False  # a callback wants a step now and then

    def add(self, callback: Callable[[int], bool | None], *, rarely: bool = False) -> None:
        self._callbacks.append(callback)
        self.rare = self.rare or rarely
        self._each = self._each or not rarely

    def wants_next(self, number: int) -> bool:
        """Return whether the step after this one must be announced."""
        return bool(self._callbacks) and (self._each or self._again or (self.rare and number < EARLY))

    def announce(self, number: int) -> None:
        """Announce that a step begins."""
        self._again = False
        for callback in self._callbacks:
            try:
                self._again = bool(callback(number)) or self._again
            except (Exception, SystemExit) as error:
                self._callbacks.clear()
                self._failed(error)
                return
