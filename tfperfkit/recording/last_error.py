"""How the script ended, as far as the interpreter shows it: the exception that nobody caught, and where it passed."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

#: More lines of the user's tell nothing more; a recursion has a thousand.
_MAX = 50


def facts(is_user: Callable[[str], bool]) -> dict[str, Any]:
    """For the event of the end. ``failed``: an exception was shown. ``raised``: where that came from a library, below
    the user's lines: (file, line) of their frames, innermost first. An interrupt comes from nowhere: the call that it
    fell into had mostly done its work. In a notebook it may be that of an earlier cell."""
    if not hasattr(sys, "last_value"):
        return {"failed": False}
    error, passed = sys.last_value, getattr(sys, "last_traceback", None)
    lines, below = _lines(passed, is_user)
    if not isinstance(error, Exception) or not below or hasattr(builtins, "__IPYTHON__"):
        return {"failed": True}
    return {"failed": True, "raised": lines[:_MAX]}


def _lines(passed: TracebackType | None, is_user: Callable[[str], bool]) -> tuple[list[tuple[str, int]], bool]:
    """Return the user's lines, innermost first, and whether a library's frame is below all of these lines."""
    lines: list[tuple[str, int]] = []
    below = False
    while passed is not None:
        file = passed.tb_frame.f_code.co_filename
        below = not is_user(file)
        if not below:
            lines.insert(0, (file, passed.tb_lineno))
        passed = passed.tb_next
    return lines, below and bool(lines)
