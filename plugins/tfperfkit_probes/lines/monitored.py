"""line_profiler by ``sys.monitoring`` with events of the measured functions only (Python 3.12 and later).

By itself it asks for the lines of all code that runs, in the interpreter's one place for profilers: each line of
TensorFlow's Python calls it, to be told that nobody wants to know. Here it gets a place of its own, one of the two that
belong to nobody, and the events of the chosen code objects. Most of these were compiled again from their source: the
ones that run are known as they begin, by being equal; each code object is asked about once. Exceptions can only be had
of all code (PEP 669).
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import suppress
from types import CodeType
from typing import Any

from tfperfkit.instruments.hooks.interrupts import raise_later

#: PEP 669 names 0 (debuggers), 1 (coverage), 2 (profilers) and 5 (optimizers).
_FREE = (3, 4)
#: Places that we have had: what was answered there with DISABLE is not asked about again by itself.
_had: set[int] = set()


class OwnPlace:
    """line_profiler at work in a place of ours, for code that is equal to ``wanted``, which may grow."""

    def __init__(self, place: int, manager: Any, profiler: Any, wanted: Collection[CodeType]) -> None:
        self._place, self._manager, self._profiler, self._wanted = place, manager, profiler, wanted
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        self._codes: list[CodeType] = []

    def ask(self) -> None:
        """Have the events of what is wanted, where it runs already too."""
        monitoring, events = self._monitoring, self._monitoring.events
        for code in self._wanted:
            self._watch(code)
        for event in (events.PY_START, events.PY_RESUME):
            monitoring.register_callback(self._place, event, self._begins)
        monitoring.set_events(self._place, events.RAISE | events.RERAISE | events.PY_START | events.PY_RESUME)
        if self._place in _had:
            monitoring.restart_events()
        _had.add(self._place)

    def _begins(self, code: CodeType, _: int) -> Any:
        """Some code begins, for the first time since."""
        try:
            if code in self._wanted:
                self._watch(code)
        except BaseException as error:  # a Ctrl-C: it is the script's
            raise_later(error)
        return self._monitoring.DISABLE

    def _watch(self, code: CodeType) -> None:
        events = self._monitoring.events
        self._monitoring.set_local_events(self._place, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
        self._codes.append(code)

    def end(self) -> None:
        """From any thread."""
        monitoring, events = self._monitoring, self._monitoring.events
        with suppress(ValueError):  # a place that is not ours any more
            monitoring.set_events(self._place, 0)
            for event in (events.PY_START, events.PY_RESUME):
                monitoring.register_callback(self._place, event, None)
            for code in self._codes:  # Python 3.12 and 3.13 keep them when the place is given back
                monitoring.set_local_events(self._place, code, 0)
        self._codes.clear()
        self._manager._handle_disable_event(self._profiler)


def begin(profiler: Any, wanted: Collection[CodeType]) -> OwnPlace | None:
    """Let it measure; None, and nothing has changed, where there is no ``sys.monitoring``, no place left, or another
    line_profiler than we know."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is None:
        return None
    place = next((each for each in _FREE if monitoring.get_tool(each) is None), None)
    if place is None:
        return None
    try:
        from line_profiler import _line_profiler

        manager = _line_profiler._LineProfilerManager(place, False, False)  # type: ignore[attr-defined,unused-ignore]
        manager._handle_enable_event(profiler)
    except (ImportError, AttributeError, TypeError):
        return None
    found = OwnPlace(place, manager, profiler, wanted)
    # the environment asks for the old way of tracing (LINE_PROFILER_CORE=legacy)
    if monitoring.get_tool(place) is None:
        found.end()
        return None
    found.ask()
    return found
