"""Markers of steps that nobody has to be told of: remembered at once, written and counted later.

That is what most steps of a training are, and their caches are cold: each object that is looked at between two steps
costs. So all that is done then is one call in C, ``note``.
"""

from __future__ import annotations

import _thread
from collections import deque
from collections.abc import Callable

from tfperfkit.steps import Marker


class QuietMarkers:
    """``hand_over`` gets the markers in order, each once, later, from whichever thread calls ``drain``.

    Two threads do: the pulse, before it writes, and the training thread, before the next step that is told.
    """

    def __init__(self, hand_over: Callable[[Marker], object]) -> None:
        self._made: deque[Marker] = deque()
        self._hand_over = hand_over
        self._draining = _thread.allocate_lock()
        self.note = self._made.append

    def drain(self, last: bool = False) -> bool:
        """Hand over what was noted; never waits, but for a second at most when it is the ``last`` time: then it goes on
        though another drain never ended. False: some are left, as another drain is under way (on this thread, too,
        where a finalizer or a signal handler came in between); what comes now must be noted to stay in order."""
        if not self._made:
            return True
        owned = self._draining.acquire(timeout=1.0 if last else 0.0)
        if not owned and not last:
            return False
        try:
            for _ in range(len(self._made)):
                self._hand_over(self._made.popleft())  # a Ctrl-C may cost the one in hand
        except IndexError:  # the other drain goes on after all
            pass
        finally:
            if owned:
                self._draining.release()
        return not self._made
