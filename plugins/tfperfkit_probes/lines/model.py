"""The record of the probe ``lines`` in the JSON report."""

from __future__ import annotations

import msgspec

from tfperfkit_probes.lines.graph.data import GraphFunction


class Line(msgspec.Struct, frozen=True):
    """A line's own figures in the window. ``hits`` is None when it was only sampled."""

    line: int
    hits: int | None
    ms: float
    share: float  # of the window's time, 0 to 1


class Function(msgspec.Struct, frozen=True):
    """A Python function in the window; ``window_ms`` is the sum over its lines."""

    function: str
    file: str
    line: int
    window_ms: float
    lines: tuple[Line, ...]


class LinesData(msgspec.Struct, frozen=True):
    """``data`` of the probe, see the JSON report."""

    python_functions: tuple[Function, ...]
    graph_functions: tuple[GraphFunction, ...]
    window_ms: float
    method: str  # "exact" (line_profiler) or "sampled"
    traced_step_ms: float | None = None  # the steps of the trace that graph_functions' times come from
    outside_ms: float | None = None  # of such a step, outside of graph_functions
    graphs_cost_share: float | None = None  # reading the graphs as they were built, of the time of tracing
