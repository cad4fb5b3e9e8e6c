"""The statements of the probe ``lines`` about functions that ran as graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tfperfkit.errors import Unavailable
from tfperfkit.graph.bounds import Machine
from tfperfkit.model import Table
from tfperfkit.offers import ComputedStep, ComputedStretch
from tfperfkit.probe import Capture
from tfperfkit_probes.lines.graph.analysis import GraphLines, analyse
from tfperfkit_probes.lines.graph.computed import computed
from tfperfkit_probes.lines.graph.data import PS_PER_MS, GraphFunction, graph_function
from tfperfkit_probes.lines.graph.limits import at_hand
from tfperfkit_probes.lines.graph.model import DEPTH
from tfperfkit_probes.lines.graph.tables import layers_table, lines_table, pipeline_table

MAX_TABLES = 3
#: A function that takes less of the step is not shown on the console.
_MIN_SHARE = 0.02
_MIN_PIPELINE = 0.1


class GraphReport(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the probe's result that is about compiled functions."""

    functions: tuple[GraphFunction, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    step_ms: float | None = None  # ms of a traced step; None if the window has none
    outside_ms: float | None = None  # the part outside of compiled functions
    computed: ComputedStep | ComputedStretch | None = None  # the operations one by one
    cost_share: float | None = None  # reading the graphs, of the time of tracing


def report(capture: Capture) -> GraphReport:
    """Empty, with a note that says why, when lines inside compiled functions can't be seen."""
    try:
        lines = analyse(capture)
    except Unavailable as reason:
        return GraphReport(notes=(str(reason),) if "--probes" in str(reason) else ())
    machine = at_hand(lines.functions, _machine(capture))
    where = "step" if lines.steps else "stretch"
    functions = tuple(graph_function(item, lines, where, machine) for item in lines.functions)
    pipeline = tuple(graph_function(item, lines, "pipeline") for item in lines.pipeline)
    step_ms = lines.wall / PS_PER_MS / max(lines.steps, 1)
    outside_ms = (lines.wall - lines.graph_wall) / PS_PER_MS / max(lines.steps, 1)
    return GraphReport(
        functions=functions + pipeline,
        tables=_tables(functions, pipeline, capture, step_ms, steps=lines.steps > 0),
        notes=(*lines.notes, *_unseen(functions)),
        step_ms=step_ms if lines.steps else None,
        outside_ms=outside_ms if lines.steps else None,
        computed=computed(lines, functions, machine),
        cost_share=_cost(lines),
    )


def _unseen(functions: tuple[GraphFunction, ...]) -> tuple[str, ...]:
    """Before TensorFlow's XLA showed its kernels to the profiler on a CPU, nothing inside such a function was seen."""
    names = [item.function for item in functions if item.compiler and not item.lines and item.matched_share is None]
    if not names:
        return ()
    return (
        f"compiled by XLA: {', '.join(names)}. The profiler of this TensorFlow shows nothing inside, so their lines "
        "have no times.",
    )


def _tables(
    functions: tuple[GraphFunction, ...],
    pipeline: tuple[GraphFunction, ...],
    capture: Capture,
    step_ms: float,
    *,
    steps: bool,
) -> tuple[Table, ...]:
    shown = [f for f in functions if (f.ms_per_step or 0.0) >= _MIN_SHARE * step_ms][:MAX_TABLES]
    depth = depth_of(capture.options)
    cores = int(capture.run.machine.get("cpus", 0) or 1)
    tables: list[Table] = []
    for function in shown:
        rest = step_ms - (function.ms_per_step or 0.0)
        tables.append(lines_table(function, capture.source, step_ms=step_ms, outside_ms=rest, cores=cores, depth=depth))
        layers = layers_table(function, _machine(capture).gflops) if function is shown[0] else None
        if layers is not None:
            tables.append(layers)
    for function in pipeline[:1]:
        if (function.ms_per_step or 0.0) >= _MIN_PIPELINE * step_ms:
            tables.append(pipeline_table(function, capture.source, step_ms=step_ms, steps=steps, depth=depth))
    return tuple(tables)


def _machine(capture: Capture) -> Machine:
    """Measure the rates that a float32 matmul and a memory copy reach, if a CPU computes."""
    on_gpu = any("GPU" in str(name) or "TPU" in str(name) for name in capture.run.machine.get("devices", ()) or ())
    known = [None if on_gpu else capture.run.machine.get(name) for name in ("float32_gflops", "copy_gb_per_s")]
    return Machine(*(float(each) if isinstance(each, (int, float)) and each > 0 else None for each in known))


def depth_of(options: Mapping[str, Any]) -> int:
    """The option ``depth``: how many levels lines are unfolded by; 0 shows the function's own lines only."""
    try:
        return max(0, int(options.get("depth", DEPTH)))
    except (TypeError, ValueError):
        return DEPTH


def _cost(lines: GraphLines) -> float | None:
    traced = sum(item.trace_ns for item in lines.built)
    return sum(item.cost_ns for item in lines.built) / traced if traced else None
