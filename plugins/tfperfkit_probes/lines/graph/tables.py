"""Graph lines as tables for the report."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from tfperfkit.calibration import NEAR_LIMIT
from tfperfkit.model import Column, Table
from tfperfkit_probes.lines.graph.data import GraphFunction, LineTime

_MIN_SHARE = 0.01
_MAX_ROWS = 40
_MAX_LAYERS = 16
#: A row whose time lies almost entirely in one layer is that layer's row.
_SAME = 0.9
#: A layer's own operations get a row from this share of it on.
_OWN = 0.1

_BOUNDS = (
    "arithmetic; memory, with the bytes that it moves for a FLOP; starting small operations; elementwise functions; or "
    "a kernel that is slow at these shapes"
)
Source = Callable[[str], Sequence[str]]
Row = tuple[str | int | float | None, ...]


def lines_table(
    function: GraphFunction, source: Source, *, step_ms: float, outside_ms: float | None, cores: int, depth: int
) -> Table:
    """The table of one function. ``outside_ms``: the rest of the step, shown when given."""
    unit, of_it, each = _unit(function, step_ms)
    whole = step_ms if outside_ms is not None else function.ms_per_step or 0.0
    lower = _MIN_SHARE * (function.ms_per_step or 0.0)
    rows: list[Row] = []
    hidden = 0
    for top in function.lines:
        if top.ms < lower and len(function.lines) > 4:
            hidden += 1
            continue
        rows += _rows(top, function, source, whole, lower, depth, 0)
    if len(rows) > _MAX_ROWS:
        rows, hidden = _strongest(rows), hidden + len(rows) - _MAX_ROWS
    marked = _costliest(rows)
    rest = (function.unattributed_ms or 0.0) - function.unmatched_ms
    rows.append(_rest(f"on no line: the runtime, gaps, waiting: {_ms(rest)} ms", rest, whole))
    if function.unmatched_ms > 0.001 * (function.ms_per_step or 0.0):
        unmatched = function.unmatched_ms
        rows.append(_rest(f"operations without a known line: {_ms(unmatched)} ms", unmatched, whole))
    if outside_ms is not None:
        outside = max(outside_ms, 0.0)  # a difference of sums that are the same may be a trace below
        text = f"the rest of the {unit}, outside of this function: {_ms(outside)} ms"
        rows.append(_rest(text, outside, whole))
    how = "graph compiled by XLA" if function.compiler == "xla" else "graph"
    return Table(
        title=f"{function.function} ({_short(function.file)}:{function.line}) · {how}, "
        f"{function.ms_per_step or 0.0:.1f} ms {each} on {cores} cores",
        columns=(
            Column("line"),
            Column("forward", "ms"),
            Column("backward", "ms"),
            Column("update", "ms"),
            Column(of_it if outside_ms is not None else "%", "share"),
            Column("source", "source"),
        ),
        rows=tuple((*row[:4], *row[5:]) for row in rows),
        marked=marked,
        words=_list_rows_of_words(rows),
        note=_note(function, hidden),
    )


def _unit(function: GraphFunction, ms: float) -> tuple[str, str, str]:
    """Name the unit of the times: as a noun, as a column's head, and after a figure."""
    return ("step", "% step", "a step") if function.where == "step" else ("trace", "% time", f"of {_ms(ms)} traced")


def pipeline_table(function: GraphFunction, source: Source, *, step_ms: float, steps: bool, depth: int) -> Table:
    """The table of a function of the input pipeline. ``steps``: the trace has such, else ``step_ms`` is all of it."""
    unit = "step" if steps else "trace"
    rows: list[Row] = []
    lower = _MIN_SHARE * (function.ms_per_step or 0.0)
    for top in function.lines:
        rows += _rows(top, function, source, step_ms, lower, depth, 0)
    return Table(
        title=f"{function.function} ({_short(function.file)}:{function.line}) · in the input pipeline, "
        f"{function.ms_per_step or 0.0:.1f} ms of work {'a step' if steps else 'in the trace'} on its threads",
        columns=(
            Column("line"),
            Column("busy", "ms"),
            Column("% step" if steps else "% time", "share"),
            Column("source", "source"),
        ),
        rows=tuple((row[0], row[4], row[5], row[6]) for row in rows[:_MAX_ROWS]),
        words=_list_rows_of_words(rows[:_MAX_ROWS]),
        note=f"beside the {unit}: it only waits where the pipeline can't keep up; operations go to functions by name",
    )


def _list_rows_of_words(rows: Sequence[Row]) -> tuple[int, ...]:
    """The rows that show no line of code: layers, sums, what has no line."""
    return tuple(index for index, row in enumerate(rows) if not row[0])


def _rows(
    item: LineTime, function: GraphFunction, source: Source, whole: float, lower: float, depth: int, level: int
) -> Iterator[Row]:
    where = ""
    if item.kind == "line":
        where = str(item.line) if item.file == function.file else f"{_short(item.file)}:{item.line}"
    yield (
        where,
        item.forward_ms or None,
        item.backward_ms or None,
        item.update_ms or None,
        item.ms,
        _share(item.ms, whole),
        "  " * level + _text(item, source),
    )
    if level >= depth:
        return
    inner = _entered(item)
    for child in sorted(inner, key=lambda child: (child.kind != "line", child.file, child.line, -child.ms)):
        same = child.kind != "line" and not child.children and len(inner) == 1 and child.ms >= _SAME * item.ms
        if child.ms >= lower and not same:
            yield from _rows(child, function, source, whole, lower, depth, level + 1)


def _entered(item: LineTime) -> list[LineTime]:
    """Return the rows that a row unfolds into. A model that is the only layer there gives way to its own layers."""
    inner = list(item.children)
    while True:
        layers = [child for child in inner if child.kind == "layer"]
        only = layers[0] if len(layers) == 1 and layers[0].children else None
        if only is None or any(child.kind == "line" for child in inner):
            return inner
        own = _without_inner_layers(only)
        inner = [child for child in inner if child is not only] + list(only.children)
        if own.ms >= _OWN * only.ms:
            return [*inner, own]


def _without_inner_layers(layer: LineTime) -> LineTime:
    """Return the layer's own computation, without the layers inside it."""
    return LineTime(
        line=0,
        file="",
        kind="part",
        name=f"{layer.name} itself",
        forward_ms=layer.forward_ms - sum(child.forward_ms for child in layer.children),
        backward_ms=layer.backward_ms - sum(child.backward_ms for child in layer.children),
        update_ms=layer.update_ms - sum(child.update_ms for child in layer.children),
        ms=layer.ms - sum(child.ms for child in layer.children),
        busy_ms=0.0,
    )


def _ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _rest(text: str, ms: float, whole: float) -> Row:
    return ("", None, None, None, ms, _share(ms, whole), f"({text})")


def _text(item: LineTime, source: Source) -> str:
    if item.kind == "line":
        lines = source(item.file)
        if 0 < item.line <= len(lines):
            code = lines[item.line - 1].strip()
            return f"{code}  # {item.detail}" if item.detail else code
        return f"({item.function}: source not kept)"
    if item.kind == "layer":
        return f"{item.name} · {item.shape}" if item.shape else f"{item.name} · {item.detail}"
    return f"({item.name})"


def _strongest(rows: list[Row]) -> list[Row]:
    floor = sorted((float(row[4] or 0.0) for row in rows), reverse=True)[_MAX_ROWS - 1]
    return [row for row in rows if float(row[4] or 0.0) >= floor][:_MAX_ROWS]


def _costliest(rows: list[Row]) -> tuple[int, ...]:
    """The row of the line that takes most and is not only the way to other lines."""
    best, largest = None, 0.0
    for index, row in enumerate(rows):
        total = float(row[4] or 0.0)
        if row[0] and total > largest and not _leads_to_lines(rows, index):
            best, largest = index, total
    return (best,) if best is not None else ()


def _leads_to_lines(rows: list[Row], index: int) -> bool:
    level = _level(rows[index])
    below = itertools.takewhile(lambda row: _level(row) > level, rows[index + 1 :])
    return any(row[0] for row in below)


def _level(row: Row) -> int:
    text = str(row[-1])
    return len(text) - len(text.lstrip(" "))


def _note(function: GraphFunction, hidden: int) -> str:
    parts = []
    if function.matched_share is not None:
        parts.append(f"{100 * function.matched_share:.1f} % of the operations' time is on lines")
    if function.unmatched and function.unmatched_ms > 0.001 * (function.ms_per_step or 0.0):
        names = ", ".join(item.name for item in function.unmatched[:3])
        parts.append(f"not: {names}")
    if function.divided_share >= 0.005:
        divided = f"{100 * function.divided_share:.1f} %"
        parts.append(f"{divided} is in kernels of several operations, divided over them by estimate")
    if function.no_source_ms:
        parts.append(f"{function.no_source_ms:.2f} ms come from a SavedModel, which keeps no source lines")
    if hidden:
        parts.append(f"{hidden} more row{'s' * (hidden != 1)} under {100 * _MIN_SHARE:.0f} %")
    parallel = sum(line.busy_ms for line in function.lines) / max(sum(line.ms for line in function.lines), 1e-9)
    side = f", {parallel:.1f} of them on average" if parallel >= 1.1 else ""
    parts.append(f"each moment counted once, shared by the operations that run side by side{side}")
    parts.append("measured with the profiler on")
    return "; ".join(parts)


def layers_table(function: GraphFunction, machine_gflops: float | None = None) -> Table | None:
    """Keras' layers, if there are any. ``machine_gflops``: what a float32 matrix product reaches on this machine; it is
    left out where a layer shows that the machine was busy when that was measured.
    """
    shown = [row for row in function.layers if row.share >= 0.005][:_MAX_LAYERS]
    if len(shown) < 2:
        return None
    misread = machine_gflops and max(row.gflop_per_s or 0.0 for row in shown) > machine_gflops / NEAR_LIMIT.value
    machine_gflops = None if misread else machine_gflops
    first = shown[0].layer.partition("/")[0] + "/"
    root = first if all(row.layer.startswith(first) for row in shown) else ""
    bounds = any(row.bound for row in shown)
    return Table(
        title=f"Layers in {function.function} ({_short(function.file)}:{function.line})",
        columns=(
            Column("layer"),
            Column("output"),
            Column("forward", "ms"),
            Column("backward", "ms"),
            Column("%", "share"),
            Column("GFLOP", "number"),
            Column("GFLOP/s", "number"),
            *([Column("of machine", "share")] if machine_gflops else []),
            *([Column("bound by")] if bounds else []),
        ),
        rows=tuple(
            (
                row.layer.removeprefix(root),
                row.shape or None,
                row.forward_ms,
                row.backward_ms or None,
                row.share,
                _rounded(row.gflop),
                _rounded(row.gflop_per_s),
                *([_share(row.gflop_per_s, machine_gflops) if row.gflop_per_s else None] if machine_gflops else []),
                *([row.bound or None] if bounds else []),
            )
            for row in shown
        ),
        note=f"its own operations in a {_unit(function, 0.0)[0]}; GFLOP/s while its products and convolutions ran"
        + (
            f"; of machine: of the {machine_gflops:,.0f} GFLOP/s that a float32 matrix product reaches here"
            if machine_gflops
            else ""
        )
        + ("; the machine was busy when its own speed was measured" if misread else "")
        + (f"; bound by what most of its time is: {_BOUNDS}" if bounds else ""),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def _share(ms: float, whole: float) -> float | None:
    return ms / whole if whole else None


def _short(file: str) -> str:
    return file.rpartition("/")[2]
