"""The first arguments of a compiled function, kept for all later calls."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.called import called


def with_the_first(trial: Trial, function: Any) -> Any:
    """By how many arguments there are: a call of another form keeps its own."""
    if not hasattr(function, "get_concrete_function"):
        trial.refuse("the function is not compiled")
        return function
    first: dict[Any, Any] = {}

    def changed(arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        form = len(arguments), frozenset(named)
        if form in first:
            trial.applied()
        return first.setdefault(form, (arguments, named))  # type: ignore[no-any-return]

    return called(function, lambda: None, changed)
