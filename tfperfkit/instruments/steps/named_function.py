"""The function that a user named with ``--steps-from``: each call of it is a step.

A function is replaced by a wrapper in its module or class (documented: the wrapper stands on the stack; the frameless
seam of ``method_seam`` would see one call where a bound method is handed on and called often, as SciPy's ``minimize``
does). A ``tf.function`` is watched through the seam that all of them share. A function that no module contains (defined
inside another) is only seen when something observed happens below it.
"""

from __future__ import annotations

import functools
import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.steps.call_state import CallState
from tfperfkit.instruments.steps.functions import Functions, Updating
from tfperfkit.instruments.steps.sites import user_frames
from tfperfkit.records.steps import Marker


class NamedCalls:
    """Looks for the function in the user's modules, again and again until it is there.

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


class NamedSteps:
    """Steps that are calls of the function that the user named."""

    def __init__(self, name: str, state: CallState) -> None:
        self._state = state
        self._calls = NamedCalls(name, state.is_user, self._entered, self._left)
        self._name = name
        self._site = 0
        self._frame: int | None = None  # the identity of the call that was marked last

    @property
    def searching(self) -> bool:
        """Return whether its calls can't be seen themselves yet: then those below which something observed happens
        are."""
        return not self._calls.found

    def search(self, functions: Functions) -> None:
        """Look for the function, until it is found."""
        if self._calls.found:
            return
        compiled = self._calls.search()
        if compiled is not None:
            known = Updating(self._name)
            known.named = True
            functions.put(compiled, known)

    def restore(self) -> None:
        self._calls.restore()

    def mark(self, frame: FrameType | None) -> None:
        """Mark an observed call, whose caller's frame this is, may stand inside of a call of the function."""
        state = self._state
        for outer in user_frames(frame, state.is_user):
            code = outer.f_code
            if self._name in (code.co_name, getattr(code, "co_qualname", "")):
                if self._frame == id(outer):
                    return
                self._frame = id(outer)
                site = state.site("named", None, self._name, outer)
                state.listener.entering(site)
                now = now_ns()
                state.listener.marked(Marker(site, now, now, 1))
                return

    def _entered(self) -> None:
        state = self._state
        if state.thread is None:
            state.thread = get_ident()
        if not self._site and self._calls.place is not None:
            self._site = state.sites.make_named(self._name, *self._calls.place)
        if get_ident() == state.thread:
            state.listener.entering(self._site)

    def _left(self, begin: int) -> None:
        if get_ident() == self._state.thread:
            self._state.listener.marked(Marker(self._site, begin, now_ns()))


def _method(module: ModuleType, name: str) -> tuple[Any, Any]:
    """Return the class of this module, if it is only one, that has a method of this name, and the method."""
    classes = {item for item in list(vars(module).values()) if isinstance(item, type)}
    own = {item for item in classes if item.__module__ == module.__name__}
    found = {item for item in own if isinstance(vars(item).get(name), FunctionType)}
    owner = found.pop() if len(found) == 1 else None
    return (owner, vars(owner)[name]) if owner is not None else (None, None)


def _nothing() -> None:
    return None
