"""Whether a call computes the same in each iteration of a loop around it, along a stack of frames."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.iteration import same_in_every_iteration
from tfperfkit_rules.measures.known_calls import known_calls
from tfperfkit_rules.measures.source_text import evaluating_loops


class SameTurns(NamedTuple):
    """A loop whose iterations all get the same from the innermost call of a stack: where the loop begins, and the lines
    that it runs. A call that is handed a function counts as such a loop, with the lines of the function."""

    file: str
    line: int
    body: tuple[int, int]
    in_file: str


def same_turns(evidence: Evidence, frames: Sequence[Frame], call: ast.Call) -> SameTurns | None:
    """Return the innermost such loop around ``call``, which the last of these frames is in; None if there is none, or
    if the frames are of several files."""
    if not frames or any(frame.file != frames[-1].file for frame in frames):
        return None
    file = frames[-1].file
    syntax = evidence.syntax(file)
    if syntax is None:
        return None
    known = known_calls(evidence, file)
    inner: ast.expr = call
    for depth in reversed(range(len(frames))):
        for loop in reversed(evaluating_loops(evidence, file, inner)):
            if loop.node is not None and same_in_every_iteration(syntax.tree, call, loop.node, known):
                return SameTurns(file, loop.line, (loop.line + 1, loop.last), file)
        function = syntax.find_function(frames[depth].line)
        if depth == 0 or function is None:
            break
        above = frames[depth - 1].line
        handed = _handing_call(syntax.calls_at(above), function)
        if handed is not None:
            if same_in_every_iteration(syntax.tree, call, function.node, known):
                return SameTurns(file, handed.lineno, (function.line + 1, function.last), file)
            inner = handed
            continue
        leading = [item for item in syntax.find_calls(function.name) if item in syntax.calls_at(above)]
        if len(leading) != 1:
            break
        inner = leading[0]
    return None


def _handing_call(calls: Sequence[ast.Call], function: Function) -> ast.Call | None:
    """The call that is handed a function, which it calls: ``max(values, key=f)``."""
    for call in calls:
        given = [*call.args, *(word.value for word in call.keywords)]
        if any(isinstance(item, ast.Name) and item.id == function.name for item in given):
            return call
    return None
