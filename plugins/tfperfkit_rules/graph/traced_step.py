"""The compiled functions of the traced step, as the probe ``lines`` has them by line."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.model import LinesData

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence

#: The window in which the figures by line were measured.
WINDOW = "tfprof"


def traced_functions(evidence: Evidence) -> Iterator[tuple[GraphFunction, float]]:
    """Return the functions that the traced training steps ran, each with its ms per step; none without a trace, or for
    work outside of the steps.
    """
    data = evidence.offer(LinesData)
    if data is None or not data.traced_step_ms or evidence.work is not None:
        return
    for function in data.graph_functions:
        if function.where == "step":
            yield function, data.traced_step_ms


def definition(function: GraphFunction) -> tuple[SourceSpan, ...]:
    """Return the place of a function's definition, for a finding without a known line."""
    return (SourceSpan(function.file, function.line, function.function),)
