"""Numbers that become tensors on their way into a compiled function."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.called import called
from tfperfkit.instruments.changes.replaced import module


def with_tensors(trial: Trial, function: Any) -> Any:
    """Whole numbers and floats that change; booleans stay, they choose between ways through the code."""
    if not hasattr(function, "get_concrete_function"):
        trial.refuse("the function is not compiled")
        return function
    tensorflow = module("tensorflow")
    first: dict[Any, Any] = {}

    def convert(place: Any, value: Any) -> Any:
        if type(value) not in (int, float):
            return value
        if first.setdefault(place, value) != value:
            trial.applied()
        return tensorflow.constant(value)

    def changed(arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        positional = tuple(convert(place, value) for place, value in enumerate(arguments))
        return positional, {name: convert(name, value) for name, value in named.items()}

    return called(function, lambda: None, changed)
