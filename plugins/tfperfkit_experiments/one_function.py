"""``one-function``: reuses the first ``tf.function`` of the same code and captures when the script makes another."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class OneFunction(Base):
    """Makes a new function if its captures differ."""

    name = "one-function"
    keeps = "results"
    remedies = (KeepTrace("function"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``tf.function`` of user functions: known by code, captures and instance."""
        known: dict[Any, tuple[Any, Any]] = {}

        def reuse(function: Any, make: Callable[[Any], Any]) -> Any:
            code = seams.code_of(function)
            if code is None or not seams.is_user_code(code.co_filename):
                return make(function)
            cells = tuple(id(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ())
            key = (code, cells, id(getattr(function, "__self__", None)))
            if key in known:
                seams.applied()
            else:
                known[key] = (function, make(function))  # the function keeps what it captures alive
            return known[key][1]

        def function(original: Any, func: Any = None, *arguments: Any, **named: Any) -> Any:
            if func is not None:
                return reuse(func, lambda given: original(given, *arguments, **named))
            decorator = original(None, *arguments, **named)
            return functools.wraps(decorator)(lambda given: reuse(given, decorator))

        seams.replace("tensorflow", "function", function)
