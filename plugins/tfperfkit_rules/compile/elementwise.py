"""The lines at which elementwise operations take most of their time, and the largest tensor that they make there."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.model import SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.step_shares import span

_NUMBER = re.compile(r"\d+")


class Elementwise(NamedTuple):
    """``lines``, the costliest first: together they take the larger half of that time, or are three.

    ``shape`` of the largest result at the first line, "256×256", and its count of ``numbers``; "" and 0 where not
    known.
    """

    lines: tuple[SourceSpan, ...] = ()
    shape: str = ""
    numbers: int = 0


def elementwise_lines(evidence: Evidence) -> Elementwise:
    """Find the lines in the trace of the steps or of the work; nothing without a trace."""
    data = evidence.offer(ComputedStep)
    if data is None:
        return Elementwise()
    fused = optable.elementwise() | optable.names(trait="fusable")
    rows = [row for row in data.operations if row.type in fused]
    at: defaultdict[tuple[str, int], float] = defaultdict(float)
    for row in rows:
        if row.file:
            at[row.file, row.line] += row.ms
    whole, lines, so_far = sum(row.ms for row in rows), [], 0.0
    for place, took in sorted(at.items(), key=lambda item: (-item[1], item[0]))[:3]:
        lines.append(place)
        so_far += took
        if so_far >= shared.MOSTLY.value * whole:
            break
    if not lines:
        return Elementwise()
    shape, numbers = _largest([row for row in rows if (row.file, row.line) == lines[0]])
    return Elementwise(tuple(span(evidence, *place) for place in lines), shape, numbers)


def _largest(rows: Sequence[ComputedOperation]) -> tuple[str, int]:
    """The largest of what the operations make."""
    made = [each.strip() for row in rows for each in row.shapes.rpartition("→")[2].split(",") if each.strip()]
    sized = [(math.prod(int(size) for size in _NUMBER.findall(shape)), shape) for shape in made if "×" in shape]
    numbers, shape = max(sized, default=(0, ""))
    return shape, numbers
