"""``same-objects:FUNCTION``: passes a compiled function the first of equal objects instead of each new one, so that a
new object of the same content is no new trace."""

from __future__ import annotations

from typing import Any

from tfperfkit.remedy import KeepTrace
from tfperfkit_experiments.on_function import OnFunction, WithArguments
from tfperfkit_experiments.seams import Seams

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


class SameObjects(OnFunction):
    """Applies to objects of user classes that hold only numbers and strings."""

    name = "same-objects"
    keeps = "results"
    usage = "same-objects:FUNCTION"
    remedies = (KeepTrace("object"),)
    compiled = True

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Replace each object by the first one of its content."""
        first: dict[Any, Any] = {}

        def one(value: Any) -> Any:
            key = content(value)
            if key is None:
                return value
            known = first.get(key)
            if known is None or content(known) != key:  # it has been changed since
                first[key] = known = value
            if known is not value:
                seams.applied()
            return known

        def replaced(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
            return tuple(map(one, arguments)), {name: one(value) for name, value in named.items()}

        return WithArguments(function, replaced)


def content(value: Any) -> Any:
    """Return a key that is equal for objects of one class that hold the same; None if that can't be said."""
    kind = type(value)
    held = getattr(value, "__dict__", None)
    if not held or hasattr(kind, "__slots__") or not isinstance(held, dict):
        return None
    if not all(_is_constant(item) for item in held.values()):
        return None
    # A number and its type: 1, 1.0 and True are equal, and trace differently.
    return kind, tuple(sorted((name, repr(type(item)), repr(item)) for name, item in held.items()))


def _is_constant(value: Any) -> bool:
    return type(value) in _CONSTANTS or (type(value) is tuple and all(map(_is_constant, value)))
