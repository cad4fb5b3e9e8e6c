"""Leaves Python's one place for profilers to the script (``sys.monitoring.PROFILER_ID``, from Python 3.12 on).

line_profiler takes that place while it measures, and cProfile fails where it is taken. Both ask for it by
``sys.monitoring.use_tool_id``. While we measure, the looking up of that name tells us to leave the place first. The
module gets a class with a property for that time: a function in the place of ``use_tool_id`` would show in the
traceback of a script that is refused for reasons of its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_NAME = "use_tool_id"


@contextmanager
def leaving_it(leave: Callable[[], object], monitoring: Any = None) -> Iterator[None]:
    """Call ``leave`` once, as soon as someone is about to ask for a place. Does nothing where there is no
    ``sys.monitoring``, or where it is another one than we know. No exception of ``leave`` reaches the script.
    """
    if monitoring is None:
        monitoring = getattr(sys, "monitoring", None)
    if type(monitoring) is not ModuleType or not callable(vars(monitoring).get(_NAME)):
        yield
        return

    def end() -> None:
        if type(monitoring) is watched:
            monitoring.__class__ = ModuleType

    def asked(module: Any) -> Any:
        end()
        try:
            leave()
        except Exception:
            pass
        return vars(module)[_NAME]

    watched = type(ModuleType.__name__, (ModuleType,), {_NAME: property(asked), "__module__": ModuleType.__module__})
    try:
        monitoring.__class__ = watched
    except TypeError:  # a module of another kind
        pass
    try:
        yield
    finally:
        end()
