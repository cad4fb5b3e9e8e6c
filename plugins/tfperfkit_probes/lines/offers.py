"""Offers of the probe ``lines`` to the headline and the rules: counts, the step's phases, the layers' work."""

from __future__ import annotations

from typing import Any

from tfperfkit.offers import (
    CompiledFunction,
    CompiledFunctions,
    CompiledLine,
    LayerWork,
    LineCost,
    LineCosts,
    LineCount,
    LineCounts,
    LineInGraph,
    MappedFunction,
    MappedFunctions,
    StepPhases,
)
from tfperfkit_probes.lines.graph.data import GraphFunction, LineTime
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
    layers = [layer for function in data.graph_functions if function.where == "step" for layer in function.layers]
    if layers:
        made.append(LayerWork(flops=sum((layer.gflop or 0.0) * 1e9 for layer in layers)))
    compiled = tuple(_compiled(item) for item in data.graph_functions if item.where == "step" and item.ms_per_step)
    if compiled:
        made.append(CompiledFunctions(functions=compiled, own=_list_own_lines(data.graph_functions)))
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


def _compiled(function: GraphFunction) -> CompiledFunction:
    lines: list[CompiledLine] = []

    def add(row: LineTime, parent: int) -> None:
        name = row.name if row.kind != "line" else f"{row.function or function.function}:{row.line}"
        lines.append(CompiledLine(parent=parent, name=name, file=row.file, line=row.line, ms=row.ms))
        place = len(lines) - 1
        for below in row.children:
            add(below, place)

    for row in function.lines:
        add(row, -1)
    return CompiledFunction(
        function=function.function,
        file=function.file,
        line=function.line,
        ms=function.ms_per_step or 0.0,
        rest_ms=function.unattributed_ms or 0.0,
        lines=tuple(lines),
    )


def _list_own_lines(functions: tuple[GraphFunction, ...]) -> tuple[LineInGraph, ...]:
    found: dict[tuple[str, int], list[float]] = {}
    for function in functions:
        for row in function.innermost if function.where == "step" else ():
            times = found.setdefault((row.file, row.line), [0.0, 0.0, 0.0])
            for place, value in enumerate((row.forward_ms, row.backward_ms, row.update_ms)):
                times[place] += value
    return tuple(
        LineInGraph(file=file, line=line, forward_ms=times[0], backward_ms=times[1], update_ms=times[2])
        for (file, line), times in found.items()
    )
