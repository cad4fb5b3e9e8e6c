"""Offers of the probe ``lines`` to the headline and the rules: counts, the step's phases, the layers' work."""

from __future__ import annotations

from typing import Any

from tfperfkit.offers import (
    LayerWork,
    LineCost,
    LineCosts,
    LineCount,
    LineCounts,
    MappedFunction,
    MappedFunctions,
    StepPhases,
)
from tfperfkit_probes.lines.graph.compiled import compiled_functions, layer_flops
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
    of_steps = [each for each in data.graph_functions if each.where == "step"]
    if any(each.layers for each in of_steps):
        made.append(LayerWork(flops=layer_flops(of_steps)))
    compiled = compiled_functions(of_steps)
    if compiled.functions:
        made.append(compiled)
    mapped = tuple(
        MappedFunction(file=each.file, line=each.line, ms=each.ms_per_step)
        for each in data.graph_functions
        if each.where == "pipeline" and each.ms_per_step
    )
    if mapped:
        made.append(MappedFunctions(functions=mapped))
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
