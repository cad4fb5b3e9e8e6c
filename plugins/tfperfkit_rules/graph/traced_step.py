"""The compiled functions of the traced step, as the probe ``lines`` has them by line."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.model import LinesData

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

#: Where the figures by line were measured.
WINDOW = "tfprof"


def traced_functions(evidence: Evidence) -> Iterator[tuple[GraphFunction, float]]:
    """The functions that the traced training steps ran, each with the ms of such a step; none without a trace, or of a
    work outside of them."""
    data = evidence.offer(LinesData)
    if data is None or not data.traced_step_ms or evidence.work is not None:
        return
    for function in data.graph_functions:
        if function.where == "step":
            yield function, data.traced_step_ms


def definition(function: GraphFunction) -> tuple[SourceSpan, ...]:
    """Where a function stands, for a finding that no line is known for."""
    return (SourceSpan(function.file, function.line, function.function),)
