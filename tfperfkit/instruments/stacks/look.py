"""The stack of a thread, known again by its code objects and instructions: by C code (``_look.c``) where it could be
built, else by Python's."""

from __future__ import annotations

import gc
import sys
from array import array
from types import CodeType, FrameType
from typing import TYPE_CHECKING, TypeVar

from tfperfkit import native

Known = TypeVar("Known")
#: An unknown stack: its key, and its code objects and instructions, innermost first.
New = tuple[bytes, list[CodeType], list[int]]


def _frames_by_python() -> dict[int, FrameType]:
    """Return the innermost frame of each thread, by its number.

    Python 3.11 makes frame objects while it holds its list of threads. A garbage collection that sets in there and
    frees a ``threading.local`` would wait for that list, and so the script for ever: none may.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if collects:
            gc.enable()


def _by_python(thread: int, known: dict[bytes, Known]) -> Known | New:
    """Return the facts about a thread's stack, by its key; else that, what it is made of.

    The key is of addresses: whoever keeps it keeps the code objects alive too.
    """
    codes: list[CodeType] = []
    instructions: list[int] = []
    places = array("q")
    frame: FrameType | None = _frames_by_python().get(thread)
    while frame is not None:
        code = frame.f_code
        codes.append(code)
        instructions.append(frame.f_lasti)
        places.append(id(code))
        places.append(frame.f_lasti)
        frame = frame.f_back
    key = places.tobytes()
    found = known.get(key)
    return (key, codes, instructions) if found is None else found


if TYPE_CHECKING:
    look, frames = _by_python, _frames_by_python
else:
    try:
        _native = native.built("tfperfkit.instruments.stacks._look")
        look, frames = _native.look, _native.frames
    except ImportError:
        look, frames = _by_python, _frames_by_python
