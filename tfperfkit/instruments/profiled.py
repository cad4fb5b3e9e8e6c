"""kernprof's ``@profile`` for scripts that carry it: it names functions to measure by line and wraps nothing."""

from __future__ import annotations

from typing import Any

#: Code objects of the functions that were marked, in order.
PROFILED: list[Any] = []


def profile(function: Any) -> Any:
    """Remember the function and return it as it is."""
    code = getattr(function, "__code__", None)
    if code is not None:
        PROFILED.append(code)
    return function
