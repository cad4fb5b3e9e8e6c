"""Read the source of traced functions: their control flow, and the Python in them that runs only while tracing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax, parse
from tfperfkit.syntax.side_effects import find_side_effects
from tfperfkit_probes.ops.model import SideEffect

_TEXT = 80


@dataclasses.dataclass(frozen=True)
class Source:
    """A parsed file."""

    lines: Sequence[str]
    syntax: Syntax


def side_effects(function: Function, file: str, source: Source) -> Iterator[SideEffect]:
    """Find the Python statements of a traced function that have an effect only when it is traced."""
    for line, what in find_side_effects(function):
        text = source.lines[line - 1].strip() if 0 < line <= len(source.lines) else ""
        yield SideEffect(file=file, line=line, function=function.name, what=what, text=text[:_TEXT])


class Sources:
    """Parsed files, each once. ``read`` gives a file's lines; empty if they were not kept."""

    def __init__(self, read: Callable[[str], Sequence[str]]) -> None:
        self._read = read
        self._parsed: dict[str, Source | None] = {}

    def parse_file(self, file: str) -> Source | None:
        if file not in self._parsed:
            lines = self._read(file)
            syntax = parse(tuple(lines)) if lines else None
            self._parsed[file] = Source(lines, syntax) if syntax is not None else None
        return self._parsed[file]
