"""Find calls of the user's functions that return the same each time, and hold most of some samples."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit.syntax.constants import returns_same
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_frame_loops, find_function, find_line_calls


class ConstantCall(NamedTuple):
    """``place``: the line that calls ``name``; ``part``: of the samples asked about, in that call."""

    place: Place
    name: str
    part: float


def find_constant_call(evidence: Evidence, stacks: Counter[Stack]) -> ConstantCall | None:
    """Find the call that holds most of these samples and is repeated; the outermost of several."""
    held: Counter[tuple[Place, str]] = Counter()
    known: dict[tuple[Frame, Frame], str] = {}
    for stack, count in stacks.items():
        repeated = evidence.work is None
        for above, below in zip(stack.frames, stack.frames[1:], strict=False):
            repeated = repeated or bool(find_frame_loops(evidence, above))
            if (above, below) not in known:
                known[above, below] = _name_constant_call(evidence, above, below)
            if repeated and known[above, below]:
                held[(above.file, above.line), known[above, below]] += count
                break
    for (place, name), count in held.most_common(1):
        if count >= shared.MOSTLY.value * stacks.total():
            return ConstantCall(place, name, count / stacks.total())
    return None


def _name_constant_call(evidence: Evidence, above: Frame, below: Frame) -> str:
    """Name the function that a line calls with constants alone, to get to another line; "" for others."""
    function = find_function(evidence, below.file, below.line)
    here = find_line_calls(evidence, above.file, above.line) if function is not None else []
    calls = [call for call in here if function is not None and call.function.text == function.name]
    return function.name if function is not None and len(calls) == 1 and returns_same(calls[0], function) else ""
