"""The user's frames around a call, and the source loops they stand in."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FrameType

from tfperfkit.instruments.stacks.look import frames as frames_now
from tfperfkit.records.steps import Loop
from tfperfkit.syntax.loops import SourceLoops


def user_frames(frame: FrameType | None, is_user: Callable[[str], bool]) -> list[FrameType]:
    """The user's own frames from ``frame`` outwards, innermost first."""
    frames = []
    while frame is not None:
        if is_user(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def thread_frame(thread_id: int) -> FrameType | None:
    """The frame that another thread is in, or None."""
    return frames_now().get(thread_id)


class LoopFinder:
    """Finds the loops around a line, from the source; a file is parsed once."""

    def __init__(self) -> None:
        self._files: dict[str, SourceLoops] = {}

    def loops(self, frames: list[FrameType]) -> tuple[Loop, ...]:
        """The loops around a chain of calls (``frames`` innermost first), outermost first."""
        found: list[Loop] = []
        for frame in reversed(frames):
            code = frame.f_code
            found += self._around(code.co_filename, frame.f_lineno)
        return tuple(found)

    def _around(self, filename: str, line: int) -> list[Loop]:
        known = self._files.get(filename)
        if known is None:
            known = self._files[filename] = SourceLoops(linecache.getlines(filename))
        return [Loop(filename, begin) for begin in known.around(line)]
