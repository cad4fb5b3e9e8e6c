"""What lines offer to the headline and the rules: counts, the step's phases, the layers' work."""

from __future__ import annotations

from typing import Any

from tfperfkit.offers import LayerWork, LineCost, LineCosts, LineCount, LineCounts, StepPhases
from tfperfkit_probes.lines.graph.data import GraphFunction
from tfperfkit_probes.lines.model import LinesData


def offers(data: LinesData, steps: int = 0) -> tuple[Any, ...]:
    """Line counts; what lines cost in a window of ``steps``; the rest where a trace showed compiled functions."""
    counts = tuple(
        LineCount(file=function.file, line=row.line, hits=row.hits or 0)
        for function in data.python_functions
        for row in function.lines
    )
    made: list[Any] = [LineCounts(rows=counts)]
    costs = _costs(data, steps)
    if costs:
        made.append(LineCosts(rows=costs))
    layers = [layer for function in data.graph_functions for layer in function.layers]
    if layers:
        made.append(LayerWork(flops=sum((layer.gflop or 0.0) * 1e9 for layer in layers)))
    phases = _phases(data.graph_functions)
    return tuple(made) if phases is None else (*made, phases)


def _costs(data: LinesData, steps: int) -> tuple[LineCost, ...]:
    python = (
        LineCost(file=each.file, line=row.line, function=each.function, ms_per_step=row.ms / steps)
        for each in data.python_functions
        for row in each.lines
        if steps > 0
    )
    compiled = (
        LineCost(file=row.file, line=row.line, function=each.function, ms_per_step=row.ms, compiled=True)
        for each in data.graph_functions
        for row in each.lines
        if each.where == "step"
    )
    return (*python, *compiled)


def _phases(functions: tuple[GraphFunction, ...]) -> StepPhases | None:
    forward = update = backward = rest = 0.0
    for function in functions:
        if function.where != "step" or not function.lines:
            continue
        rest += function.unattributed_ms or 0.0
        for line in function.lines:
            forward += line.forward_ms
            backward += line.backward_ms
            update += line.update_ms
    if not forward + backward + update + rest:
        return None
    return StepPhases(forward_ms=forward, backward_ms=backward, update_ms=update, rest_ms=rest)
