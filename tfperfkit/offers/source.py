"""Time and calls of lines of the user's source."""

from __future__ import annotations

import msgspec


class LineCount(msgspec.Struct, frozen=True, kw_only=True):
    """How often a line ran in the window."""

    file: str
    line: int
    hits: int


class LineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of the user's Python and how often each ran, in the window of the probe that tells."""

    rows: tuple[LineCount, ...]


class LineCost(msgspec.Struct, frozen=True, kw_only=True):
    """Time of a line of the user's in a step, in ms with all its calls.

    ``compiled``: a line of a compiled function.
    """

    file: str
    line: int
    function: str
    ms_per_step: float
    compiled: bool = False


class LineCosts(msgspec.Struct, frozen=True, kw_only=True):
    """Lines and what each took of a step in the window of the probe that tells; that of a line in a function is also in
    the line that called the function."""

    rows: tuple[LineCost, ...]


class StepPhases(msgspec.Struct, frozen=True, kw_only=True):
    """ms of a step in compiled functions: forward, backward, updating, and what belongs to no line."""

    forward_ms: float
    backward_ms: float
    update_ms: float
    rest_ms: float


class CompiledLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line, or what it unfolds into (another function's line, a layer). ``ms`` is a step's, with all below;
    ``parent``: the index of what it unfolds from, -1 for a line of the function itself."""

    parent: int
    name: str
    file: str
    line: int
    ms: float


class CompiledFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A compiled function in the steps of a trace, and its lines. ``rest_ms`` of ``ms`` belongs to no line."""

    function: str
    file: str
    line: int
    ms: float
    rest_ms: float
    lines: tuple[CompiledLine, ...]

    def times(self, scale: float) -> CompiledFunction:
        """Return it with all times scaled."""
        return msgspec.structs.replace(
            self,
            ms=self.ms * scale,
            rest_ms=self.rest_ms * scale,
            lines=tuple(msgspec.structs.replace(line, ms=line.ms * scale) for line in self.lines),
        )


class LineInGraph(msgspec.Struct, frozen=True, kw_only=True):
    """ms of a step that a line itself takes inside of compiled functions."""

    file: str
    line: int
    forward_ms: float
    backward_ms: float
    update_ms: float


class CompiledFunctions(msgspec.Struct, frozen=True, kw_only=True):
    """The compiled functions of the training thread, line by line."""

    functions: tuple[CompiledFunction, ...]
    own: tuple[LineInGraph, ...] = ()

    def times(self, scale: float) -> CompiledFunctions:
        """Return them with all times scaled."""
        return CompiledFunctions(
            functions=tuple(each.times(scale) for each in self.functions),
            own=tuple(
                LineInGraph(
                    file=row.file,
                    line=row.line,
                    forward_ms=row.forward_ms * scale,
                    backward_ms=row.backward_ms * scale,
                    update_ms=row.update_ms * scale,
                )
                for row in self.own
            ),
        )


class MappedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that an input pipeline maps, and ms that its operations took on all threads: of a step, or of all of a
    trace without steps."""

    file: str
    line: int
    ms: float


class MappedFunctions(msgspec.Struct, frozen=True, kw_only=True):
    """The functions of input pipelines that a trace saw at work."""

    functions: tuple[MappedFunction, ...]
