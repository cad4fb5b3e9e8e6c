"""Functions of the person's that an experiment decorates as they are defined.

The launcher (``tfperfkit.launch.edited_main``) compiles the person's files with a decorator of ours on the functions
that are named; it finds this module's ``decorate`` in builtins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_left: list[Callable[[], object]] = []
_decorators: dict[str, list[Callable[[Any], Any]]] = {}


def provide(target: str, decorator: Callable[[Any], Any]) -> None:
    """``decorator`` is for the functions that ``target`` names."""
    _decorators.setdefault(target, []).append(decorator)


def when_left_out(callback: Callable[[], object]) -> None:
    """Call it wherever a statement is left out."""
    _left.append(callback)


def left_out() -> None:
    """A statement stood here."""
    for callback in _left:
        callback()


def decorate(target: str, function: Any) -> Any:
    """What stands in the place of a function that ``target`` names."""
    for decorator in _decorators.get(target, ()):
        function = decorator(function)
    return function
