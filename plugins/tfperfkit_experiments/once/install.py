"""A function whose first result is kept."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from tfperfkit.experiment import Trial


def first_kept(trial: Trial, function: Any) -> Any:
    """For each set of arguments, as far as those can be told apart."""
    if not callable(function):
        trial.refuse("it is no plain function")
        return function
    if inspect.isgeneratorfunction(function):
        trial.refuse("it is a generator, whose first result is used up")
        return function
    kept: dict[Any, tuple[Any, Any]] = {}

    @functools.wraps(function)
    def once(*arguments: Any, **named: Any) -> Any:
        # By identity; the arguments are kept with the result, so that no other object gets their place.
        values = (*arguments, *named.values())
        key = (*(_key(value) for value in values), *named)
        if key not in kept:
            kept[key] = (values, function(*arguments, **named))
        else:
            trial.applied()
        return kept[key][1]

    return once


def _key(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bytes, bool, type(None))) else id(value)
