"""Find loops in whose iterations a call computes the same, along a stack of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.iteration import same_in_every_iteration
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.measures.known_calls import find_known_calls
from tfperfkit_rules.measures.source_text import find_evaluating_loops, find_running_calls


class SameIterations(NamedTuple):
    """A loop whose iterations all get the same from the innermost call of a stack: where the loop begins, and the lines
    that it runs. A call that is handed a function counts as such a loop, with the lines of the function. ``once``: a
    line that runs once in each iteration, 0 if it is not known."""

    file: str
    line: int
    body: tuple[int, int]
    in_file: str
    once: int = 0


def find_same_iterations(evidence: Evidence, frames: Sequence[Frame], call: Call) -> SameIterations | None:
    """Return the innermost such loop around ``call``, which the last of these frames is in; None if there is none, or
    if the frames are of several files."""
    if not frames or any(frame.file != frames[-1].file for frame in frames):
        return None
    file, syntax, inner = frames[-1].file, get_file(call), call
    known = find_known_calls(evidence, file)
    for depth in reversed(range(len(frames))):
        for loop in reversed(find_evaluating_loops(evidence, file, inner)):
            if same_in_every_iteration(syntax.tree, call.node, loop.node, known):
                return SameIterations(file, loop.line, (loop.line + 1, loop.last), file, loop.first_line)
        function = syntax.find_function(frames[depth].line)
        if depth == 0 or function is None:
            break
        here = syntax.find_line_calls(frames[depth - 1].line)
        handed = _find_handing_call(here, function)
        if handed is not None:
            if same_in_every_iteration(syntax.tree, call.node, function.node, known):
                return SameIterations(file, handed.line, (function.line + 1, function.last), file)
            inner = handed
            continue
        leading = [item for item in here if item.function.last_name == function.name]
        leading = leading or find_running_calls(evidence, frames[depth - 1])  # an object is called
        if len(leading) != 1:
            break
        inner = leading[0]
    return None


def _find_handing_call(calls: Sequence[Call], function: Function) -> Call | None:
    """Find the call that is given a function, which it calls: ``max(values, key=f)``."""
    return next((call for call in calls if function.name in (item.text for item in call.given)), None)
