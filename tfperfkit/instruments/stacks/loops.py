"""The person's frames around a call, and the source loops they stand in."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable
from types import FrameType

from tfperfkit.records.steps import Loop

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def user_frames(frame: FrameType | None, is_user: Callable[[str], bool]) -> list[FrameType]:
    """The person's own frames from ``frame`` outwards, innermost first."""
    frames = []
    while frame is not None:
        if is_user(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    return frames


def thread_frame(thread_id: int) -> FrameType | None:
    """The frame that another thread is in, or None."""
    return sys._current_frames().get(thread_id)


class LoopFinder:
    """Finds the loops around a line, from the source; a file is parsed once."""

    def __init__(self) -> None:
        self._files: dict[str, list[tuple[int, int, int, int]]] = {}

    def loops(self, frames: list[FrameType]) -> tuple[Loop, ...]:
        """The loops around a chain of calls (``frames`` innermost first), outermost first."""
        found: list[Loop] = []
        for frame in reversed(frames):
            code = frame.f_code
            found += self._around(code.co_filename, frame.f_lineno)
        return tuple(found)

    def _around(self, filename: str, line: int) -> list[Loop]:
        entries = self._files.get(filename)
        if entries is None:
            entries = self._files[filename] = _parse(filename)
        # The innermost function around the line; only its own loops repeat the line within one call.
        scopes = [(end - begin, begin) for kind, begin, end, _ in entries if kind == 0 and begin <= line <= end]
        scope = min(scopes)[1] if scopes else 0
        return [
            Loop(filename, begin)
            for kind, begin, end, owner in entries
            if kind == 1 and owner == scope and begin <= line <= end
        ]


def _parse(filename: str) -> list[tuple[int, int, int, int]]:
    """(0, first, last, -) for each function and (1, first, last, line of its function) for each loop."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except (SyntaxError, ValueError, RecursionError):
        return []
    entries: list[tuple[int, int, int, int]] = []

    def visit(node: ast.AST, scope: int) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, _SCOPES):
                decorators = getattr(child, "decorator_list", [])
                inner = min([child.lineno, *(item.lineno for item in decorators)])
                entries.append((0, inner, child.end_lineno or child.lineno, scope))
            elif isinstance(child, _LOOPS):
                entries.append((1, child.lineno, child.end_lineno or child.lineno, scope))
            visit(child, inner)

    try:
        visit(tree, 0)
    except RecursionError:
        return []
    return entries
