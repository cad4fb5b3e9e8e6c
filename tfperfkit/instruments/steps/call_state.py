"""What the seams of a training step share: whose thread trains, which calls are under way, the sites they come from."""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

from tfperfkit.clock import now_ns
from tfperfkit.instruments.stacks.loops import LoopFinder
from tfperfkit.instruments.steps.quiet_calls import Calls
from tfperfkit.instruments.steps.sites import SiteBook
from tfperfkit.instruments.steps.tracked_calls import Targets, Token
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
        """The number of the place that a call comes from."""
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
