"""The function that a person named with ``--steps-from``: each call of it is a step.

A function is replaced by a wrapper in its module or class (documented: the wrapper stands on the stack; the frameless
seam of ``around`` would see one call where a bound method is handed on and called often, as SciPy's ``minimize`` does).
A ``tf.function`` is watched through the seam that all of them share. A function that stands in no module (defined
inside another) is only seen when something observed happens below it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from tfperfkit.clock import now_ns


class NamedCalls:
    """Looks for the function in the person's modules, again and again until it is there.

    ``entered()`` is called before each call, ``left(begin_ns)`` after it, on the calling thread.
    """

    def __init__(
        self, name: str, is_user: Callable[[str], bool], entered: Callable[[], None], left: Callable[[int], None]
    ) -> None:
        self.name = name
        self._is_user = is_user
        self._entered = entered
        self._left = left
        self._restore: Callable[[], None] | None = None
        self.place: tuple[str, int] | None = None  # file and line of the function, once found

    @property
    def found(self) -> bool:
        return self._restore is not None

    def search(self) -> Any:
        """Look once; returns a ``tf.function`` of that name for the caller to watch, else None."""
        owner_name, _, name = self.name.rpartition(".")
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if not isinstance(module, ModuleType) or not (
                module.__name__ == "__main__" or (isinstance(file, str) and self._is_user(file))
            ):
                continue
            owner: Any = module
            if owner_name and owner_name != module.__name__:
                owner = module.__dict__.get(owner_name)
            value = getattr(owner, "__dict__", {}).get(name)
            if value is None and not owner_name:
                owner, value = _method(module, name)
            if value is None:
                continue
            if hasattr(value, "python_function") and hasattr(value, "get_concrete_function"):
                self._restore = _nothing
                return value
            if isinstance(value, FunctionType):
                self.place = (value.__code__.co_filename, value.__code__.co_firstlineno)
                self._install(owner, name, value)
                return None
        return None

    def restore(self) -> None:
        if self._restore is not None:
            self._restore()

    def _install(self, owner: Any, name: str, function: FunctionType) -> None:
        entered, left = self._entered, self._left

        @functools.wraps(function)
        def observed(*args: Any, **kwargs: Any) -> Any:
            entered()
            begin = now_ns()
            try:
                return function(*args, **kwargs)
            finally:
                left(begin)

        setattr(owner, name, observed)

        def restore() -> None:
            if owner.__dict__.get(name) is observed:
                setattr(owner, name, function)

        self._restore = restore


def _method(module: ModuleType, name: str) -> tuple[Any, Any]:
    """The class of this module, if it is only one, that has a method of this name, and the method."""
    classes = {item for item in list(vars(module).values()) if isinstance(item, type)}
    own = {item for item in classes if item.__module__ == module.__name__}
    found = {item for item in own if isinstance(vars(item).get(name), FunctionType)}
    owner = found.pop() if len(found) == 1 else None
    return (owner, vars(owner)[name]) if owner is not None else (None, None)


def _nothing() -> None:
    return None
