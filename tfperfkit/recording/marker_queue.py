"""Markers of steps that nobody has to hear of: remembered at once, written and counted later.

That is what most steps of a training are, and their caches are cold: each object that is looked at between two steps
costs. So all that is done then is one call in C, ``note``.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import Literal

from tfperfkit.instruments.steps.quiet_calls import queue
from tfperfkit.records.steps import Marker

#: Who attends to the steps: somebody to each as it begins; nobody, and their markers are handed on all the same;
#: nobody, and their markers are only noted.
Attention = Literal["each", "none", "none, noted"]


class QuietMarkers:
    """``hand_over`` gets the markers in order, each once, later, from whichever thread calls ``drain``.

    Two threads do: the pulse, before it writes, and the training thread, before the next step that is announced.
    ``instead`` is given ``note`` while markers are only noted, else None.
    """

    def __init__(
        self,
        hand_over: Callable[[Marker], object],
        instead: Callable[[Callable[[Marker], object] | None], object] = lambda note: None,
    ) -> None:
        self._made = queue(Marker)
        self._hand_over = hand_over
        self._instead = instead
        self.attention: Attention = "each"
        self._draining = _thread.allocate_lock()
        self.note = self._made.append

    def attend(self, attention: Attention) -> None:
        """From now on."""
        self.attention = attention
        self._instead(self.note if attention == "none, noted" else None)

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
