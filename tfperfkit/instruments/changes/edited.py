"""Functions of the user's that an experiment decorates as they are defined.

The launcher (``tfperfkit.launch.edited_main``) compiles the user's files with a decorator of ours on the functions
that are named; it finds this module's ``decorate`` in builtins. A function that is defined before TensorFlow has come
gets a shell, which passes calls on: first to the function, then to the version that the experiments make.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

#: So often an assignment is made that is left out.
_RUNS = 2
_times: dict[int, int] = {}
_left: list[Callable[[], object]] = []
_decorators: dict[str, list[Callable[[Any], Any]]] = {}
#: Callbacks that recreate the functions defined before there was a decorator, by their target.
_waiting: dict[str, list[Callable[[Callable[[Any], Any]], None]]] = {}
#: The targets of which a function was defined.
_defined: set[str] = set()


def provide(target: str, decorator: Callable[[Any], Any]) -> None:
    """``decorator`` is for the functions that ``target`` names, those to come and those that are there."""
    _decorators.setdefault(target, []).append(decorator)
    for remake in _waiting.get(target, ()):
        remake(decorator)


def was_defined(target: str) -> bool:
    """Return whether a function that ``target`` names has been defined so far."""
    return target in _defined


def when_left_out(callback: Callable[[], object]) -> None:
    """Call it wherever a statement is left out."""
    _left.append(callback)


def left_out() -> None:
    """Stand for a statement that was taken out."""
    for callback in _left:
        callback()


def is_assignment_made(line: int) -> bool:
    """Return whether the assignment in ``line`` is made: twice, so that what it makes at first is made, and wherever a
    graph is built: what it gives there is that graph's own."""
    context: Any = sys.modules.get("tensorflow.python.eager.context")
    if not _left or (context is not None and not context.executing_eagerly()):
        return True
    _times[line] = done = _times.get(line, 0) + 1
    if done > _RUNS:
        left_out()
    return done <= _RUNS


def decorate(target: str, function: Any) -> Any:
    """Return the replacement of a function that ``target`` names."""
    _defined.add(target)
    if isinstance(function, (staticmethod, classmethod)):
        # The binding wrapper stays outside: else a static method would get the instance.
        return type(function)(_decorated(target, function.__func__))
    return _decorated(target, function)


def _decorated(target: str, function: Any) -> Any:
    if target not in _decorators and callable(function):
        return _shell(target, function)
    for decorator in _decorators.get(target, ()):
        function = decorator(function)
    return function


def _shell(target: str, function: Any) -> Any:
    """Return a plain function, so that it binds as the one in it."""
    stands = function

    @functools.wraps(function)
    def shell(*arguments: Any, **named: Any) -> Any:
        return stands(*arguments, **named)

    def remake(decorator: Callable[[Any], Any]) -> None:
        nonlocal stands
        stands = decorator(stands)

    _waiting.setdefault(target, []).append(remake)
    return shell
