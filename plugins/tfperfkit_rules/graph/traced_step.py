"""The compiled functions of the traced step, as the probe ``lines`` has them by line."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.model import LinesData

from tfperfkit.model import SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence

#: The window in which the figures by line were measured.
WINDOW = "tfprof"


def traced_functions(evidence: Evidence) -> Iterator[tuple[GraphFunction, float]]:
    """Yield the functions that the traced steps ran, each with the ms of a traced step, or, of other work, those that
    its trace holds, with the length of that trace; none without a trace."""
    data, step = evidence.offer(LinesData), evidence.offer(ComputedStep)
    if data is None:
        return
    of_work = evidence.work is not None
    whole = (step.traced_ms if step is not None else 0.0) if of_work else data.traced_step_ms
    for function in data.graph_functions if whole else ():
        if function.where == ("stretch" if of_work else "step"):
            yield function, whole or 0.0


def definition(function: GraphFunction) -> tuple[SourceSpan, ...]:
    """Return the place of a function's definition, for a finding without a known line."""
    return (SourceSpan(function.file, function.line, function.function),)
