"""Compiled functions line by line: the offer ``CompiledFunctions``."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.offers import CompiledFunction, CompiledFunctions, CompiledLine, LineInGraph
from tfperfkit_probes.lines.graph.data import GraphFunction, LineTime


def compiled_functions(functions: Sequence[GraphFunction]) -> CompiledFunctions:
    """Return those that took time, with the time of each line and of what it calls."""
    own = _list_own_lines(functions)
    return CompiledFunctions(functions=tuple(_compiled(item) for item in functions if item.ms_per_step), own=own)


def layer_flops(functions: Sequence[GraphFunction]) -> float:
    """Return the FLOPs of all layers."""
    return sum((layer.gflop or 0.0) * 1e9 for function in functions for layer in function.layers)


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


def _list_own_lines(functions: Sequence[GraphFunction]) -> tuple[LineInGraph, ...]:
    found: dict[tuple[str, int], list[float]] = {}
    for function in functions:
        for row in function.innermost:
            times = found.setdefault((row.file, row.line), [0.0, 0.0, 0.0])
            for place, value in enumerate((row.forward_ms, row.backward_ms, row.update_ms)):
                times[place] += value
    return tuple(
        LineInGraph(file=file, line=line, forward_ms=times[0], backward_ms=times[1], update_ms=times[2])
        for (file, line), times in found.items()
    )
