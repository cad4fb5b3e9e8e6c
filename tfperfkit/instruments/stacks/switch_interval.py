"""Makes the stack samples true while it matters.

A sampling thread gets the interpreter's lock when the script releases it: at once inside TensorFlow or at a read, but
only after ``sys.getswitchinterval()`` (5 ms) of plain Python. Any stretch of Python shorter than that is never seen,
and its time is charged to the next call that releases the lock. With half a millisecond the samples fall where the time
goes. It is set while hot functions are looked for, two seconds at least; then the old value comes back.
"""

from __future__ import annotations

import sys

PRECISE_S = 0.0005


class Switching:
    """Sets the interval and restores it, unless the script has set one of its own meanwhile."""

    def __init__(self) -> None:
        self._before: float | None = None
        self._set = 0.0

    @property
    def precise(self) -> bool:
        return self._before is not None

    def begin(self) -> bool:
        """Returns whether there was something to change."""
        before = sys.getswitchinterval()
        if self._before is not None or before <= PRECISE_S:
            return False
        self._before = before
        sys.setswitchinterval(PRECISE_S)
        self._set = sys.getswitchinterval()
        return True

    def end(self) -> None:
        if self._before is not None:
            if sys.getswitchinterval() == self._set:
                sys.setswitchinterval(self._before)
            self._before = None
