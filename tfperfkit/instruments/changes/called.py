"""A compiled function in a shell that counts its calls, or changes what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class Called:
    """Calls and attributes are the function's; it binds as a method, as the function does."""

    def __init__(
        self, function: Any, count: Callable[[], object], change: Callable[[tuple[Any, ...], dict[str, Any]], Arguments]
    ) -> None:
        self.__wrapped__ = function
        self._count, self._change = count, change

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        self._count()
        arguments, named = self._change(arguments, named)
        return self.__wrapped__(*arguments, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bound = self.__wrapped__.__get__(instance, owner)
        return self if bound is self.__wrapped__ else Called(bound, self._count, self._change)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)


def called(
    function: Any,
    count: Callable[[], object],
    change: Callable[[tuple[Any, ...], dict[str, Any]], Arguments] = lambda arguments, named: (arguments, named),
) -> Any:
    """``function`` in such a shell."""
    return Called(function, count, change)
