"""A window that is open when the interpreter ends: when its closing begins, before the probe itself hears of the end.

A probe may have an exit handler of its own, in which closing takes seconds (a trace is written). Handlers run the last
registered first, so one that is registered after the window was opened comes before it.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable

from tfperfkit.clock import now_ns


class ExitNote:
    """Calls ``tell`` once if the interpreter ends, in this process; ``at_ns`` is then when. ``close`` takes it back."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self.at_ns: int | None = None
        self._tell = tell
        self._pid = os.getpid()
        self._handler = self._note  # one object: that is how it is found again
        atexit.register(self._handler)

    def _note(self) -> None:
        if self._pid == os.getpid() and self.at_ns is None:
            self.at_ns = now_ns()
            self._tell()

    def close(self) -> int:
        """When the closing began: at the interpreter's end, or now."""
        atexit.unregister(self._handler)
        return self.at_ns if self.at_ns is not None else now_ns()
