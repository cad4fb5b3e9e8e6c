"""The tables and the line in words."""

from __future__ import annotations

from tfperfkit.model import Column, Table, make_columns
from tfperfkit.records.plural import plural
from tfperfkit_probes.memory.model import Grower, MemoryData

_MAX_ROWS = 10


def tables(data: MemoryData) -> tuple[Table, ...]:
    """Only tables that have rows."""
    made = (_size(data), _growers(data), _functions(data), _allocators(data), _devices(data), _collections(data))
    return tuple(table for table in made if table.rows)


def summary(data: MemoryData) -> str:
    """One line: the peak, its share of the limit, the growth."""
    if data.rss_peak_bytes is None:
        return "no memory was recorded"
    words = f"peak {_size_words(data.rss_peak_bytes)}"
    if data.limit_bytes and data.share_of_limit is not None:
        words += f", {100 * data.share_of_limit:.3g} % of {_size_words(data.limit_bytes)} ({data.limit_source})"
    if data.growth_bytes_per_step is None or data.growth_range is None:
        return words
    if not data.growth_is_significant:
        if not data.growers:
            return f"{words}; no growth with the steps"
        names, more = ", ".join(grower.name for grower in data.growers[:2]), len(data.growers) > 1
        return f"{words}; {names} get{'s' * (not more)} longer with the steps, the process does not grow measurably"
    low, high = data.growth_range
    words += f"; grows by {_size_words(data.growth_bytes_per_step)} a step ({_size_words(low)} to {_size_words(high)})"
    if data.steps_to_limit is not None:
        words += f", at the limit in {plural(data.steps_to_limit, 'step')}"
    return words


def _size_words(size: float) -> str:
    for unit, factor in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(size) >= factor:
            return f"{size / factor:.3g} {unit}" if abs(size) < 999.5 * factor else f"{size / factor:,.0f} {unit}"
    return f"{size:.0f} bytes"


def _size(data: MemoryData) -> Table:
    rows = (
        ("when TensorFlow had been imported", data.rss_first_bytes),
        ("after the warm-up", data.rss_steady_bytes),
        ("at the end of the last step", data.rss_last_bytes),
        ("highest", data.rss_peak_bytes),
    )
    return Table(
        title="Resident memory of the process",
        columns=(Column("when"), Column("size", "bytes")),
        rows=tuple(row for row in rows if row[1] is not None),
    )


def _growers(data: MemoryData) -> Table:
    rows = tuple(
        (
            row.name,
            _holds(row),
            row.per_step,
            row.bytes_per_step,
            row.last,
            f"{row.file}:{row.line}" if row.line else None,
        )
        for row in data.growers[:_MAX_ROWS]
    )
    return Table(
        title="What gets longer with the steps",
        columns=make_columns(
            "name", "holds", "per step: number", "bytes per step: bytes", "now: count", "line: location"
        ),
        rows=rows,
        note="bytes: of the newest element, times the elements per step",
    )


def _holds(row: Grower) -> str:
    return f"{row.container} of {row.element}" if row.container and row.element else row.element or row.container


def _functions(data: MemoryData) -> Table:
    rows = tuple(
        (f"{row.file}:{row.line}", row.function, row.peak_bytes, row.mean_increase_bytes, row.samples)
        for row in data.functions[:_MAX_ROWS]
    )
    return Table(
        title="Highest resident memory while a function was on the stack (sampled)",
        columns=make_columns("defined at: location", "function", "highest: bytes", "increase: bytes", "samples: count"),
        rows=rows,
        note="increase: from the first to the last sample of one stay on the stack, on average",
    )


def _allocators(data: MemoryData) -> Table:
    rows = tuple(
        (allocator.name, allocator.peak_in_trace_bytes, op.op, op.bytes, op.allocations)
        for allocator in data.allocators
        for op in allocator.ops[:_MAX_ROWS]
    )
    return Table(
        title="TensorFlow's allocators at their highest point in the trace",
        columns=make_columns("allocator", "in use: bytes", "operation", "holds: bytes", "allocations: count"),
        rows=rows,
        note="operations: what they had allocated within the trace and not freed; the rest is older",
    )


def _devices(data: MemoryData) -> Table:
    rows = tuple(
        (row.device, row.peak_bytes, row.last_bytes, row.growth_bytes_per_step, row.limit_bytes) for row in data.devices
    )
    return Table(
        title="Memory that TensorFlow uses on devices",
        columns=make_columns(
            "device", "highest: bytes", "at the last reading: bytes", "growth per step: bytes", "limit: bytes"
        ),
        rows=rows,
    )


def _collections(data: MemoryData) -> Table:
    total = data.gc
    rows = (
        ()
        if not total.count
        else ((total.count, total.full, total.ms, total.longest_ms, total.steady_ms, total.steady_share),)
    )
    return Table(
        title="Python's garbage collections",
        columns=make_columns(
            "count: count", "full: count", "all: ms", "longest: ms", "in steps: ms", "of the steps: share"
        ),
        rows=rows,
        note="in steps: full ones and those of a millisecond or more, after the warm-up, outside of windows",
    )
