"""Calls that train nothing and tell the iterations of other work apart: ``predict``, ``evaluate``, a session's ``run``,
and compiled functions of the user's that update no weights.

Only the first ones of a run leave a marker: a loop of short calls goes on as without us once its iterations have been
timed. Calls within each other all leave one; which tells the iterations is decided when the run is read.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.steps.call_state import CallState, Token
from tfperfkit.records.steps import Marker, MarkerKind

#: At 20 us each this costs 60 ms of a run, however long it is.
MAX = 3000
#: Between a compiled function and the line that calls it stand so many frames of TensorFlow.
_DEPTH = 4


class WorkCalls:
    """Actions of the seams of such calls before and after each call."""

    def __init__(self, state: CallState) -> None:
        self._state = state
        self._files: dict[str, bool] = {}
        self._runs: Counter[tuple[int, int]] = Counter()  # of sessions, by site and graph
        self.left = MAX

    def of_method(self, kind: MarkerKind, passing: Callable[[FrameType], None]) -> Callable[[Any], Token | None]:
        """Return the action of a seam on a method before a call. ``passing`` is given the caller's frame."""

        def before(instance: Any) -> Token | None:
            frame = sys._getframe(2)
            passing(frame)
            token = self._begin(kind, instance, frame) if self.left > 0 else None
            if token is not None and kind == "session":
                self._count(token.site, instance.graph)
            return token

        return before

    def _count(self, site: int, graph: Any) -> None:
        """Now and then, the more calls the rarer, count the operations of the graph that a session runs."""
        start = now_ns()
        self._runs[site, id(graph)] = calls = self._runs[site, id(graph)] + 1
        if calls & (calls - 1) == 0:
            self._state.listener.graph_size(site, calls, int(graph.num_operations()))
        self._state.cost_ns += now_ns() - start

    def function(self, function: Any, frame: FrameType) -> Token | None:
        """Note that a compiled function is about to be called, by the user's line or by a library. ``frame``:
        TensorFlow's."""
        caller: FrameType | None = frame
        for _ in range(_DEPTH):
            if caller is None or self._is_users(caller.f_code.co_filename):
                break
            caller = caller.f_back
        else:
            return None
        return self._begin("function", function, caller)

    def after(self, token: Token, called: bool) -> None:
        """The call has ended."""
        end = now_ns()
        if called:
            state = self._state
            (state.quietly or state.listener.marked)(Marker(token.site, token.begin, end))
            state.cost_ns += now_ns() - end

    def _begin(self, kind: MarkerKind, target: Any, frame: FrameType | None) -> Token | None:
        start = now_ns()
        state = self._state
        if state.inside or (state.thread is not None and get_ident() != state.thread):
            return None
        self.left -= 1
        token = Token(state.site(kind, target, type(target).__name__, frame), None, False)
        token.begin = now_ns()
        state.cost_ns += token.begin - start
        return token

    def _is_users(self, name: str) -> bool:
        known = self._files.get(name)
        if known is None:
            known = self._files[name] = self._state.is_user(name)
        return known
