"""Leaves the interpreter to the script's own profilers and debuggers (Python 3.12 and later).

line_profiler measures by ``sys.monitoring`` there, in the one place for profilers. While it does, cProfile fails, and
``pdb.set_trace()`` stops a line late on 3.13. So we leave as soon as the script is about to

- ask for a place: that ``sys.monitoring.use_tool_id`` is looked up tells. The module gets a class with a property for
  that time, as a function in the place of ``use_tool_id`` would show in the traceback of a script that is refused.
- set a trace function: an audit event tells.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tfperfkit.instruments import audit

PROFILER, TRACER = "started a profiler of its own", "set a trace function of its own"
_NAME, _EVENT = "use_tool_id", "sys.settrace"


@contextmanager
def leaving_it(leave: Callable[[str], object], monitoring: Any = None) -> Iterator[None]:
    """Call ``leave`` once, with ``PROFILER`` or ``TRACER``, right before the script does that. Does nothing where there
    is no ``sys.monitoring``, or where it is another one than we know. No exception of ``leave`` reaches the script.
    """
    if monitoring is None:
        monitoring = getattr(sys, "monitoring", None)
    if type(monitoring) is not ModuleType or not callable(vars(monitoring).get(_NAME)):
        yield
        return

    def end() -> None:
        audit.unlisten(_EVENT, traced)
        if type(monitoring) is watched:
            monitoring.__class__ = ModuleType

    def traced() -> None:
        end()
        leave(TRACER)

    def asked(module: Any) -> Any:
        end()
        try:
            leave(PROFILER)
        except Exception:
            pass
        return vars(module)[_NAME]

    watched = type(ModuleType.__name__, (ModuleType,), {_NAME: property(asked), "__module__": ModuleType.__module__})
    try:
        monitoring.__class__ = watched
    except TypeError:  # a module of another kind
        pass
    audit.listen(_EVENT, traced)
    try:
        yield
    finally:
        end()
