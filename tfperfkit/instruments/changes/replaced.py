"""Replace a method or a function of a framework with a function of tfperfkit, and restore it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType, FunctionType, ModuleType
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks.frames import hide_own_frames
from tfperfkit.instruments.stacks.call_site import original_place
from tfperfkit.user_code import OWN

_AUTOGRAPH = "/tensorflow/python/autograph/"


def replace(owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> Callable[[], None]:
    """``owner.name`` (of a class or a module) becomes ``make(original)``; returns the call that undoes it.

    Raises Unavailable when there is no plain function of that name (another TensorFlow, another patch).
    """
    original = vars(owner).get(name)
    if not isinstance(original, FunctionType):
        raise Unavailable(f"{getattr(owner, '__name__', owner)}.{name} is not the function that tfperf knows")
    made = functools.wraps(original)(make(original))
    setattr(owner, name, made)
    hide_own_frames()

    def restore() -> None:
        if vars(owner).get(name) is made:
            setattr(owner, name, original)

    return restore


def caller() -> FrameType:
    """Return the frame that called a replaced function, past all other wrappers of tfperfkit."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return frame


def called_from(is_user: Callable[[str], bool]) -> bool:
    """Tell whether a file of the user's calls a replaced function, including AutoGraph's code for such a file."""
    frame = caller()
    while frame.f_back is not None and _AUTOGRAPH in frame.f_code.co_filename:
        frame = frame.f_back
    place = original_place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    return place is not None and is_user(place.file)


def module(name: str) -> ModuleType:
    """Return a loaded module; raises Unavailable when it is not loaded."""
    found = sys.modules.get(name)
    if found is None:
        raise Unavailable(f"{name} is not loaded")
    return found


def attribute(place: str, name: str) -> Any:
    """``name`` of the loaded module ``place``; raises Unavailable."""
    try:
        return getattr(module(place), name)
    except AttributeError:
        raise Unavailable(f"{place} of this version has no {name}") from None


class Seams:
    """Replacements that belong together."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def replace(self, owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
        """See ``replace``."""
        self._undo.callback(replace(owner, name, make))

    def callback(self, undo: Callable[[], object]) -> None:
        """To be called at the end."""
        self._undo.callback(undo)

    def restore(self) -> None:
        """Undo all replacements, the last first."""
        self._undo.close()


@contextmanager
def seams() -> Iterator[Seams]:
    """Replacements that are taken back as the context ends."""
    made = Seams()
    try:
        yield made
    finally:
        made.restore()
