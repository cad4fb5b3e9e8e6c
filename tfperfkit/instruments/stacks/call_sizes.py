"""How many rows the arguments of a library's function have, read where a sample meets a new stack.

The user's line calls a function of a library that is written in Python: its frame holds the arguments. Only lengths of
known types are read, because a property of another type would run code that the script can see. Each call is looked at
a few times in a run, so nothing is paid for each step.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tfperfkit.instruments.hooks.frame_locals import is_function, locals_of, unseen
from tfperfkit.instruments.stacks.look import frames as frames_now

_VARARGS, _VARKEYWORDS = 0x04, 0x08  # CO_VARARGS, CO_VARKEYWORDS
#: Times that one call is looked at, and the number of calls in a run.
_TIMES, _MOST_CALLS = 4, 300
#: Arguments of one call, and library frames below the user's line, that are looked at.
_MOST_ARGUMENTS, _DEEPEST = 32, 200
_BUILT_IN = (list, tuple)
#: Module and name of a type, and the method that tells its length without other people's code.
_TYPES: tuple[tuple[str, str, Callable[[Any], int]], ...] = (
    ("numpy", "ndarray", lambda value: value.shape[0] if value.ndim else 0),
    ("tensorflow.python.framework.ops", "EagerTensor", lambda value: next(iter(value._shape_tuple()), 0)),
    ("pandas", "DataFrame", len),
    ("pandas", "Series", len),
)


class Given(NamedTuple):
    """The argument of a call with the most rows. ``argument``: the name of the library's parameter."""

    argument: str
    rows: int


class CallSizes:
    """Writes ``["given", file, line, argument, rows]`` for calls of libraries' functions."""

    def __init__(self, write: Callable[[Any], None]) -> None:
        self._write = write
        self._looked: Counter[tuple[CodeType, int]] = Counter()

    def read(self, thread: int, codes: Sequence[CodeType], caller: int, instruction: int, line: int) -> None:
        """Look at the call that a thread is in. ``codes`` of its stack, innermost first; ``caller``: the number of the
        user's innermost frame among them, ``instruction`` and ``line`` of that frame."""
        call = codes[caller], instruction
        if not 0 < caller <= _DEEPEST or self._looked[call] >= _TIMES:
            return
        if call not in self._looked and len(self._looked) >= _MOST_CALLS:
            return
        self._looked[call] += 1
        frame = _find_frame(thread, codes, caller - 1)
        given = find_largest(frame) if frame is not None else None
        if given is not None:
            self._write(["given", codes[caller].co_filename, line, *given])


def _find_frame(thread: int, codes: Sequence[CodeType], depth: int) -> FrameType | None:
    """Return the frame at this depth of a thread's stack; None if the thread has gone on since ``codes`` were read, or
    is the one that asks: its stack holds this function, whose frame would keep itself."""
    if thread == get_ident():
        return None
    frames = frames_now()
    frame: FrameType | None = frames.get(thread)
    frames.clear()  # they hold this function's frame: a cycle would keep what the script's frames hold
    for code in codes[:depth]:
        if frame is None or frame.f_code is not code:
            return None
        frame = frame.f_back
    return frame if frame is not None and frame.f_code is codes[depth] else None


def find_largest(frame: FrameType) -> Given | None:
    """Return the argument of a function's frame that has the most rows; None if no argument has any."""
    code = frame.f_code
    if not is_function(code) or not unseen(code):
        return None
    named = code.co_argcount + code.co_kwonlyargcount
    with locals_of(frame) as values:
        found = [
            Given(name, rows)
            for number, name in enumerate(code.co_varnames[: named + _count_open(code)])
            for name, value in _list_values(name, values.get(name), is_open=number >= named)
            if (rows := count_rows(value))
        ]
    return max(found, key=lambda given: given.rows, default=None)


def _count_open(code: CodeType) -> int:
    """Return how many parameters collect any number of arguments: ``*args``, ``**kwargs``."""
    return bool(code.co_flags & _VARARGS) + bool(code.co_flags & _VARKEYWORDS)


def _list_values(name: str, value: Any, *, is_open: bool) -> Iterator[tuple[str, Any]]:
    """Yield the arguments that a parameter holds, by name."""
    if not is_open:
        yield name, value
    elif type(value) is dict:
        yield from list(value.items())[:_MOST_ARGUMENTS]
    elif type(value) is tuple:
        yield from ((name, item) for item in value[:_MOST_ARGUMENTS])


def count_rows(value: Any) -> int:
    """Return the length of a value of a known type along its first axis; 0 for any other."""
    kind = type(value)
    if kind in _BUILT_IN:
        return len(value)
    for module, name, count in _TYPES:
        loaded = sys.modules.get(module)
        if loaded is not None and vars(loaded).get(name) is kind:
            return int(count(value))
    return 0
