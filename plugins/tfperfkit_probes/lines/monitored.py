"""line_profiler by ``sys.monitoring`` with events of the measured functions only (Python 3.12 and later).

By itself it asks for the lines of all code that runs, in the interpreter's one place for profilers: each line of
TensorFlow's Python calls it, to be told that nobody wants to know. Here it gets a place of its own, one of the two that
belong to nobody, and the events of the chosen code objects. Exceptions can only be had of all code (PEP 669).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from types import CodeType
from typing import Any

#: PEP 669 names 0 (debuggers), 1 (coverage), 2 (profilers) and 5 (optimizers).
_FREE = (3, 4)


class OwnPlace:
    """line_profiler at work in a place of ours, for the codes that are added."""

    def __init__(self, place: int, manager: Any, profiler: Any) -> None:
        self._place, self._manager, self._profiler = place, manager, profiler
        self._codes: list[CodeType] = []

    def add(self, code: CodeType) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        events = monitoring.events
        monitoring.set_local_events(self._place, code, events.LINE | events.PY_RETURN | events.PY_YIELD)
        self._codes.append(code)

    def end(self) -> None:
        """From any thread."""
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined,unused-ignore]
        for code in self._codes:  # Python 3.12 and 3.13 keep them when the place is given back
            with suppress(ValueError):
                monitoring.set_local_events(self._place, code, 0)
        self._codes.clear()
        self._manager._handle_disable_event(self._profiler)


def begin(profiler: Any, codes: Iterable[CodeType]) -> OwnPlace | None:
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
    found = OwnPlace(place, manager, profiler)
    if monitoring.get_tool(place) is None:  # it was told to trace in the old way (LINE_PROFILER_CORE=legacy)
        found.end()
        return None
    monitoring.set_events(place, monitoring.events.RAISE | monitoring.events.RERAISE)
    for code in codes:
        found.add(code)
    return found
