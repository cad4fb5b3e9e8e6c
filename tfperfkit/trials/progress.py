"""One line on a terminal that says what runs, and how much of the time is gone."""

from __future__ import annotations

import time
from typing import TextIO

from tfperfkit.trials.rounds import Budget

_EVERY_S = 0.5


class Progress:
    """Nothing is written where ``file`` is no terminal."""

    def __init__(self, file: TextIO | None, budget: Budget) -> None:
        self._file = file if file is not None and file.isatty() else None
        self._budget = budget
        self._last = 0.0
        self._what = ""

    def begin(self, what: str) -> None:
        """A trial of this begins."""
        self._what, self._last = what, 0.0

    def look(self, _: float) -> None:
        """Called often while it runs."""
        now = time.monotonic()
        if self._file is None or now - self._last < _EVERY_S:
            return
        self._last = now
        text = f"tfperf: {self._what} | {self._budget.passed:.0f} of {self._budget.seconds:.0f} s"
        self._write(f"\r\x1b[2K{text[:78]}")

    def end(self) -> None:
        """Take the line away."""
        self._write("\r\x1b[2K")

    def _write(self, text: str) -> None:
        if self._file is not None:
            try:
                self._file.write(text)
                self._file.flush()
            except OSError:
                self._file = None
