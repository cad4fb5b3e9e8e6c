"""Which functions are measured by line: those named by the user, those that carry ``@profile``, else the hot ones."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec

from tfperfkit.instruments.profiled import PROFILED
from tfperfkit.instruments.stacks.look import frames as frames_now
from tfperfkit.probe import Recording

#: A function on less than this share of the sampled stacks is not worth its tracing.
HOT_SHARE = 0.01
MAX_FUNCTIONS = 24
MAX_OTHERS = 200
MAX_FILES = 400


class Choice(msgspec.Struct, frozen=True):
    """The code objects to measure, how they were chosen ("hot", "named", "@profile", "all"), names not found."""

    codes: tuple[Any, ...]
    how: str
    missing: tuple[str, ...] = ()
    whole: bool = False


def choose(recording: Recording) -> Choice:
    """Decide at the moment when the window opens."""
    names = list(recording.options.get("functions") or ())
    paths = list(recording.options.get("paths") or ())
    if names or paths:
        found = list(_in_paths(paths, recording))
        codes = [code for code in found if not names]
        missing = []
        everywhere = found if paths else list(_everywhere(recording))
        for name in names:
            hits = [code for code in everywhere if name in (code.co_name, getattr(code, "co_qualname", ""))]
            codes += hits
            if not hits:
                missing.append(name)
        return Choice(tuple(dict.fromkeys(codes)), "named", tuple(missing))
    if PROFILED:
        return Choice(tuple(PROFILED), "@profile")
    if recording.planned_steps is None and recording.step == 0 and not recording.hot_functions():
        return Choice(tuple(_everywhere(recording)), "all", whole=True)
    codes = []
    for function in recording.hot_functions()[:MAX_FUNCTIONS]:
        code = recording.code(function)
        if code is not None and (function.share >= HOT_SHARE or function.share == 0):
            codes.append(code)
    codes += _running(recording)
    # More functions cost nothing more: line_profiler traces every line of the thread anyway. So short ones that no
    # sample fell on are measured too, as long as reading the sources is quick.
    codes += islice(_everywhere(recording), MAX_OTHERS)
    return Choice(tuple(dict.fromkeys(codes)), "hot")


def _running(recording: Recording) -> list[CodeType]:
    """The user's functions on the stack now: the training loop and what called it."""
    codes = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if recording.is_user_code(frame.f_code.co_filename):
            codes.append(frame.f_code)
        frame = frame.f_back
    return codes


def running_frames(recording: Recording, thread: int) -> list[tuple[str, int, str, int]]:
    """The user's frames on a thread's stack now, outermost first: ``(file, first line, function, line)``."""
    frames = []
    frame: FrameType | None = frames_now().get(thread)
    while frame is not None:
        code = frame.f_code
        if recording.is_user_code(code.co_filename):
            name = getattr(code, "co_qualname", code.co_name)
            frames.append((code.co_filename, code.co_firstlineno, name, frame.f_lineno))
        frame = frame.f_back
    return frames[::-1]


def _everywhere(recording: Recording) -> Iterator[CodeType]:
    """All functions of the script and of the user's own modules that are loaded."""
    files = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and recording.is_user_code(os.path.abspath(file)):
            files.append(os.path.abspath(file))
    for file in list(dict.fromkeys(files))[:MAX_FILES]:
        yield from _codes(file)


def _in_paths(paths: list[str], recording: Recording) -> Iterator[CodeType]:
    for item in paths:
        path = Path(item)
        for file in [path] if path.is_file() else sorted(path.rglob("*.py"))[:MAX_FILES]:
            yield from _codes(str(file))


def _codes(file: str) -> Iterator[CodeType]:
    """The code objects of a file, compiled again: their bytecode equals that of the ones that run."""
    try:
        with open(file, "rb") as source:
            pending = [compile(source.read(), file, "exec", dont_inherit=True, optimize=sys.flags.optimize)]
    except (OSError, SyntaxError, ValueError):
        return
    while pending:
        code = pending.pop()
        yield code
        pending += [item for item in code.co_consts if isinstance(item, CodeType)]
