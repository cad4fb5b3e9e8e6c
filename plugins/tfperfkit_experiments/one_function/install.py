"""``tf.function`` that remembers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams
from tfperfkit.instruments.steps.updates import own_code


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """For the person's own functions, by code, captures and defaults."""
    known: dict[Any, tuple[Any, Any]] = {}

    def again(function: Any, make: Callable[[Any], Any]) -> Any:
        code = own_code(function)
        if code is None or not trial.is_user_code(code.co_filename):
            return make(function)
        cells = tuple(id(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ())
        key = (code, cells, id(getattr(function, "__self__", None)))
        if key in known:
            trial.applied()
        else:
            known[key] = (function, make(function))  # the function keeps what it captures alive
        return known[key][1]

    def remembering(original: Callable[..., Any]) -> Callable[..., Any]:
        def function(func: Any = None, *arguments: Any, **named: Any) -> Any:
            if func is not None:
                return again(func, lambda given: original(given, *arguments, **named))
            decorator = original(None, *arguments, **named)
            return functools.wraps(decorator)(lambda given: again(given, decorator))

        return function

    with seams() as made:
        made.replace(module("tensorflow"), "function", remembering)
        yield
