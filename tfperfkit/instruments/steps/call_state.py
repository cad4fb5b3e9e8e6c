"""State that the seams of a training step share: whose thread trains, which calls are under way, the sites they come
from.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from tfperfkit.clock import now_ns
from tfperfkit.instruments.steps.functions import Updating
from tfperfkit.instruments.steps.quiet_calls import Calls
from tfperfkit.instruments.steps.sites import LoopFinder, SiteBook
from tfperfkit.records.steps import Marker, MarkerKind, Site


class Listener(Protocol):
    """Who hears of calls. ``entering`` is called before the observed call, ``marked`` after it, on the same thread.
    ``graph_size`` now and then before a session's run: how many operations its graph has at the call of this number."""

    def new_site(self, site: Site) -> None: ...
    def entering(self, site: int) -> None: ...
    def marked(self, marker: Marker) -> None: ...
    def graph_size(self, site: int, calls: int, operations: int) -> None: ...


class CallState(Calls):
    """One for all seams of a session."""

    def __init__(self, listener: Listener, is_user: Callable[[str], bool]) -> None:
        super().__init__()
        self.listener = listener
        self.is_user = is_user
        self.sites = SiteBook(is_user, LoopFinder().loops, listener.new_site)
        self.targets = Targets()
        self.marker = Marker

    def site(
        self, kind: MarkerKind, target: Any, name: str, frame: FrameType | None, batch: Callable[[], int] = lambda: 0
    ) -> int:
        """Return the number of the place that a call comes from."""
        number = 0 if kind == "named" else self.targets.number(target)
        known = self.sites.find(kind, number, frame)
        return known if known is not None else self.sites.make(kind, number, name, frame, batch)

    def ended(self, token: Token, called: bool, steps: int = 1) -> None:
        """The call is over; it held so many steps."""
        end = now_ns()
        if token.nested:
            self.inside -= 1
        if not called:
            if token.first:  # a saver that walks a model's attributes trains nothing
                self.thread = None
            return
        (self.quietly or self.listener.marked)(Marker(token.site, token.begin, end, steps))
        self.cost_ns += now_ns() - end


class Token:
    __slots__ = ("begin", "extra", "first", "frame", "known", "nested", "owner", "site")

    def __init__(self, site: int, owner: Any, nested: bool, known: Updating | None = None) -> None:
        self.site = site
        self.owner = owner
        self.nested = nested
        self.known = known  # what is known of the function that is called
        self.extra: Any = None
        self.first = False  # its thread was taken for the training thread
        self.begin = 0
        self.frame: FrameType | None = None


class Targets:
    """Number optimizers, models and functions in order of appearance. Ids of dead objects are reused."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, weakref.ref[Any] | None]] = {}
        self._last = 0

    def number(self, target: Any) -> int:
        """Return the object's number, from 1."""
        key = id(target)  # once: it is an audit event, and costs as one
        known = self._known.get(key)
        if known is not None and (known[1] is None or known[1]() is target):
            return known[0]
        try:
            reference = weakref.ref(target)
        except TypeError:
            reference = None
        self._last += 1
        self._known[key] = (self._last, reference)
        return self._last
