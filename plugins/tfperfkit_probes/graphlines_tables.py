"""Graph lines as tables for the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tfperfkit.model import Column, Table
from tfperfkit_probes.graphlines_data import GraphFunction, LineTime

#: Levels that a line is unfolded by, unless --lines-depth says otherwise.
DEPTH = 3
_LEAST_SHARE = 0.01
_MOST_ROWS = 40
_MOST_LAYERS = 16
#: A row whose time lies almost entirely in one layer is that layer's row.
_SAME = 0.97

Source = Callable[[str], Sequence[str]]
Row = tuple[str | int | float | None, ...]


def lines_table(
    function: GraphFunction, source: Source, *, step_ms: float, outside_ms: float | None, cores: int, depth: int
) -> Table:
    """The table of one function. ``outside_ms``: the rest of the step, shown when given."""
    whole = step_ms if outside_ms is not None else function.ms_per_step or 0.0
    least = _LEAST_SHARE * (function.ms_per_step or 0.0)
    rows: list[Row] = []
    hidden = 0
    for top in function.lines:
        if top.ms < least and len(function.lines) > 4:
            hidden += 1
            continue
        rows += _rows(top, function, source, whole, least, depth, 0)
    if len(rows) > _MOST_ROWS:
        rows, hidden = _strongest(rows), hidden + len(rows) - _MOST_ROWS
    marked = _costliest(rows)
    rest = (function.unattributed_ms or 0.0) - function.unmatched_ms
    rows.append(("", None, None, None, rest, _share(rest, whole), "(no line: the runtime, gaps, waiting)"))
    if function.unmatched_ms > 0.001 * (function.ms_per_step or 0.0):
        unmatched = function.unmatched_ms
        rows.append(("", None, None, None, unmatched, _share(unmatched, whole), "(operations without a known line)"))
    if outside_ms is not None:
        text = "(outside of this function: Python, eager operations)"
        rows.append(("", None, None, None, outside_ms, _share(outside_ms, whole), text))
    how = "graph compiled by XLA" if function.compiler == "xla" else "graph"
    return Table(
        title=f"{function.function} ({_short(function.file)}:{function.line}) · {how}, "
        f"{function.ms_per_step or 0.0:.1f} ms a step on {cores} cores",
        columns=(
            Column("line"), Column("forward", "ms"), Column("backward", "ms"), Column("update", "ms"),
            Column("total", "ms"), Column("% step" if outside_ms is not None else "%", "share"),
            Column("source", "source"),
        ),
        rows=tuple(rows), marked=marked, note=_note(function, hidden),
    )


def pipeline_table(function: GraphFunction, source: Source, *, step_ms: float, depth: int) -> Table:
    """The table of a function of the input pipeline."""
    rows: list[Row] = []
    least = _LEAST_SHARE * (function.ms_per_step or 0.0)
    for top in function.lines:
        rows += _rows(top, function, source, step_ms, least, depth, 0)
    return Table(
        title=f"{function.function} ({_short(function.file)}:{function.line}) · in the input pipeline, "
        f"{function.ms_per_step or 0.0:.1f} ms of work a step on its threads",
        columns=(Column("line"), Column("busy", "ms"), Column("% step", "share"), Column("source", "source")),
        rows=tuple((row[0], row[4], row[5], row[6]) for row in rows[:_MOST_ROWS]),
        note="beside the step: it only waits where the pipeline can't keep up; operations go to functions by name",
    )


def _rows(
    item: LineTime, function: GraphFunction, source: Source, whole: float, least: float, depth: int, level: int
) -> Iterator[Row]:
    where = ""
    if item.kind == "line":
        where = str(item.line) if item.file == function.file else f"{_short(item.file)}:{item.line}"
    yield (
        where, item.forward_ms or None, item.backward_ms or None, item.update_ms or None, item.ms,
        _share(item.ms, whole), "  " * level + _text(item, source),
    )
    if level >= depth:
        return
    inner = item
    while inner.children:
        main = max(inner.children, key=lambda child: child.ms)
        if main.kind == "line" or main.ms < _SAME * inner.ms:
            break
        inner = main  # the model that the line calls: go on to its layers
    for child in sorted(inner.children, key=lambda child: (child.kind != "line", child.file, child.line, -child.ms)):
        if child.ms >= least:
            yield from _rows(child, function, source, whole, least, depth, level + 1)


def _text(item: LineTime, source: Source) -> str:
    if item.kind == "line":
        lines = source(item.file)
        if 0 < item.line <= len(lines):
            return lines[item.line - 1].strip()
        return f"({item.function}: source not kept)"
    if item.kind == "layer":
        return f"{item.name} · {item.shape}" if item.shape else f"{item.name} · {item.detail}"
    return f"({item.name})"


def _strongest(rows: list[Row]) -> list[Row]:
    floor = sorted((float(row[4] or 0.0) for row in rows), reverse=True)[_MOST_ROWS - 1]
    return [row for row in rows if float(row[4] or 0.0) >= floor][:_MOST_ROWS]


def _costliest(rows: list[Row]) -> tuple[int, ...]:
    """The row of the line that takes most and is not only the way to other lines."""
    best: int | None = None
    for index, row in enumerate(rows):
        unfolds = index + 1 < len(rows) and rows[index + 1][0] and _level(rows[index + 1]) > _level(row)
        if row[0] and not unfolds and (best is None or float(row[4] or 0.0) > float(rows[best][4] or 0.0)):
            best = index
    return (best,) if best is not None else ()


def _level(row: Row) -> int:
    text = str(row[-1])
    return len(text) - len(text.lstrip(" "))


def _note(function: GraphFunction, hidden: int) -> str:
    parts = []
    if function.matched_share is not None:
        parts.append(f"{function.matched_share:.1%} of the operations' time is on lines")
    if function.unmatched and function.unmatched_ms > 0.001 * (function.ms_per_step or 0.0):
        names = ", ".join(item.name for item in function.unmatched[:3])
        parts.append(f"not: {names}")
    if function.divided_share >= 0.005:
        parts.append(f"{function.divided_share:.1%} is in kernels of several operations, divided over them by estimate")
    if function.no_source_ms:
        parts.append(f"{function.no_source_ms:.2f} ms come from a SavedModel, which keeps no source lines")
    if hidden:
        parts.append(f"{hidden} more rows under {_LEAST_SHARE:.0%}")
    parts.append("each moment counted once, shared by operations that run side by side; measured with the profiler on")
    return "; ".join(parts)


def layers_table(function: GraphFunction) -> Table | None:
    """Keras' layers, if there are any."""
    shown = [row for row in function.layers if row.share >= 0.005][:_MOST_LAYERS]
    if len(shown) < 2:
        return None
    return Table(
        title=f"Layers in {function.function} ({_short(function.file)}:{function.line})",
        columns=(
            Column("layer"), Column("class"), Column("output"), Column("forward", "ms"), Column("backward", "ms"),
            Column("%", "share"), Column("GFLOP", "number"), Column("GFLOP/s", "number"),
        ),
        rows=tuple(
            (
                row.layer, row.kind, row.shape or None, row.forward_ms, row.backward_ms or None, row.share,
                _rounded(row.gflop), _rounded(row.gflop_per_s),
            )
            for row in shown
        ),
        note="a step's time in the layer's own operations; GFLOP/s while matrix products and convolutions ran",
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.3g}")


def _share(ms: float, whole: float) -> float | None:
    return ms / whole if whole else None


def _short(file: str) -> str:
    return file.rpartition("/")[2]
