"""Equal objects that become one on their way into a compiled function."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.called import called

_PLAIN = (bool, int, float, complex, str, bytes, type(None))


def with_same_objects(trial: Trial, function: Any) -> Any:
    """The first of each content stands for all."""
    if not hasattr(function, "get_concrete_function"):
        trial.refuse("the function is not compiled")
        return function
    first: dict[Any, Any] = {}

    def one(value: Any) -> Any:
        key = content(value)
        if key is None:
            return value
        known = first.get(key)
        if known is None or content(known) != key:  # it has been changed since
            first[key] = known = value
        if known is not value:
            trial.applied()
        return known

    def changed(arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(map(one, arguments)), {name: one(value) for name, value in named.items()}

    return called(function, lambda: None, changed)


def content(value: Any) -> Any:
    """Equal for objects of one class that hold the same; None where that can't be said."""
    kind = type(value)
    held = getattr(value, "__dict__", None)
    if not held or hasattr(kind, "__slots__") or not isinstance(held, dict):
        return None
    if not all(_plain(item) for item in held.values()):
        return None
    # A number and its type: 1, 1.0 and True are equal, and trace differently.
    return kind, tuple(sorted((name, repr(type(item)), repr(item)) for name, item in held.items()))


def _plain(value: Any) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_plain, value)))
