"""Leaves the interpreter to the script's own profilers and debuggers.

From Python 3.12 on line_profiler measures by ``sys.monitoring``, in the one place for profilers. While it does,
cProfile fails, and ``pdb.set_trace()`` stops a line late on 3.13. So we leave as soon as the script is about to

- ask for a place: that ``sys.monitoring.use_tool_id`` is looked up tells. For that time the module gets a class with a
  property, since a replacement of ``use_tool_id`` would show in the traceback of a script that is refused.
- set a trace function on the measured thread: an audit event tells, before Python 3.12 too.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tfperfkit.instruments.hooks import audit
from tfperfkit.instruments.hooks.interrupts import raise_later

PROFILER, TRACER = "asked for a place in sys.monitoring, as cProfile does,", "called sys.settrace"
_NAME, _EVENT = "use_tool_id", "sys.settrace"


def profiler() -> str | None:
    """Who has the place for profilers; None before Python 3.12."""
    monitoring = getattr(sys, "monitoring", None)
    name: str | None = monitoring.get_tool(monitoring.PROFILER_ID) if monitoring is not None else None
    return name


@contextmanager
def leaving_it(leave: Callable[[str], object], monitoring: Any = None) -> Iterator[None]:
    """Call ``leave`` once, with ``PROFILER`` or ``TRACER``, right before the script does that. ``sys.monitoring`` is
    left alone where it is another one than we know. No exception of ``leave`` reaches the script.
    """
    if monitoring is None:
        monitoring = getattr(sys, "monitoring", None)
    thread = get_ident()

    def end() -> None:
        audit.unsubscribe(_EVENT, traced)
        if type(monitoring) is watched:
            monitoring.__class__ = ModuleType

    def traced() -> None:
        if get_ident() == thread:
            end()
            leave(TRACER)

    def asked(module: Any) -> Any:
        end()
        for _ in range(2):
            try:
                leave(PROFILER)
            except Exception:
                pass
            except BaseException as error:  # a Ctrl-C: C code that looks the name up would make another error of it
                raise_later(error)
                continue
            break
        return getattr(module, _NAME)

    def replaced(module: Any, value: Any) -> None:
        end()
        setattr(module, _NAME, value)

    def deleted(module: Any) -> None:
        end()
        delattr(module, _NAME)

    names = {_NAME: property(asked, replaced, deleted), "__module__": ModuleType.__module__}
    watched = type(ModuleType.__name__, (ModuleType,), names)
    if type(monitoring) is ModuleType and callable(vars(monitoring).get(_NAME)):
        try:
            monitoring.__class__ = watched
        except TypeError:  # a module of another kind
            pass
    audit.subscribe(_EVENT, traced)
    try:
        yield
    finally:
        end()
