"""The tables of the report, and its one line."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph import optable
from tfperfkit.model import Column, Table, make_columns
from tfperfkit.records.devices import DeviceFacts
from tfperfkit.records.plural import plural
from tfperfkit_probes.devices.model import CopyRow, DevicesData

_ROWS = 12
#: Operations that only hold values or pass them on.
_MOVING = optable.names(kind=("constant", "placeholder", "pass", "frame", "noop", "read"))
_KINDS = {
    "H2D": "from the host",
    "D2H": "to the host",
    "D2D": "within it",
    "P2P": "to another device",
    "OTHER": "other",
}


def summary(data: DevicesData) -> str:
    """One line: on what it ran, and how often steps copied or waited."""
    logical = [device.name for device in data.devices if device.kind == "logical"]
    if not logical:
        return "the script computed nothing with TensorFlow"
    parts = [f"ran on {', '.join(logical)}"]
    if any(row.ops for row in data.placements):
        parts.append(f"{sum(row.ops for row in data.placements):,} graph operations placed")
    if data.window_steps:
        copies = sum(row.copies_per_step or 0 for row in data.copies)
        reads = sum(row.per_step or 0 for row in data.host_syncs)
        parts.append(f"{_counted(copies, 'cop', 'y', 'ies')} between devices")
        parts[-1] += f" and {_counted(reads, 'read', '', 's')} of tensors per step"
    return "; ".join(parts)


def _counted(value: float, stem: str, one: str, many: str) -> str:
    number = _number(value)
    return f"{number} {stem}{one if number == '1' else many}"


def _number(value: float) -> str:
    return "no" if not value else f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def tables(data: DevicesData) -> tuple[Table, ...]:
    """Those that have rows."""
    made = (_settings(data), _placements(data), _fallbacks(data), _copies(data), _syncs(data), _trace(data))
    return tuple(table for table in made if table is not None)


def _settings(data: DevicesData) -> Table | None:
    if data.facts is None:
        return None
    return Table(
        title="Devices and settings",
        columns=(Column("setting"), Column("value")),
        rows=tuple(_setting_rows(data.facts, data.no_gpu)),
    )


def _setting_rows(facts: DeviceFacts, no_gpu: str) -> Iterator[tuple[str, str]]:
    yield "devices", ", ".join(device.name for device in facts.devices if device.kind == "logical")
    hidden = [device.name for device in facts.devices if device.kind == "physical" and not device.visible]
    if hidden:
        yield "hidden by the script", ", ".join(hidden)
    if no_gpu:
        yield "no GPU", no_gpu
    for device in facts.gpus("physical"):
        growth = "grows as needed" if device.memory_growth else "all taken at the start"
        yield device.name, f"{device.description or 'GPU'}; memory: {growth}"
    yield (
        "threads",
        (
            f"{_threads(facts.intra_op_threads)} within an operation, {_threads(facts.inter_op_threads)} between "
            f"operations ({facts.cpus} processor{'s' * (facts.cpus != 1)})"
        ),
    )
    yield (
        "a device that is missing",
        ("another takes its place (soft placement)" if facts.soft_placement else "is an error (no soft placement)"),
    )
    yield "oneDNN, XLA", f"oneDNN {_switch(facts.onednn)}, XLA for whole programs {'on' if facts.xla_auto else 'off'}"
    for name, value in facts.environment.items():
        yield name, repr(value)
    if facts.hardware.nvidia or facts.hardware.amd:
        missing = [library.name for library in facts.libraries if library.found is None and not library.loaded]
        yield "GPU libraries not found", ", ".join(missing) or "none"


def _threads(number: int | None) -> str:
    return "automatic" if not number else str(number)


def _switch(value: bool | None) -> str:
    return "not known" if value is None else "on" if value else "off"


def _placements(data: DevicesData) -> Table | None:
    if not data.placements:
        return None
    return Table(
        title="Where operations run",
        columns=make_columns(
            "device",
            "in graphs: count",
            "asked for: count",
            "variables: count",
            "their size: bytes",
            "eager a step: number",
            "most, in graphs",
        ),
        rows=tuple(
            (
                row.device,
                row.ops,
                row.asked,
                row.variables,
                row.variable_bytes,
                row.eager_per_step,
                _limit(row.types),
            )
            for row in data.placements
        ),
        note="graphs after optimisation, all functions together; asked for: by a tf.device scope",
    )


def _limit(types: dict[str, int]) -> str:
    """The most frequent types that compute something."""
    working = [(name, count) for name, count in types.items() if name not in _MOVING] or list(types.items())
    return ", ".join(f"{name.removeprefix('_Mkl')} {count}" for name, count in working[:3])


def _fallbacks(data: DevicesData) -> Table | None:
    if not data.fallbacks:
        return None
    return Table(
        title="Operations that run elsewhere than asked",
        columns=make_columns("operation", "count: count", "asked", "runs on", "why", "line: location"),
        rows=tuple(
            (
                f"{row.op} {row.dtype}".strip(),
                row.count,
                row.requested,
                row.assigned,
                row.reason,
                _at(row.file, row.line),
            )
            for row in data.fallbacks[:_ROWS]
        ),
        note=_left(len(data.fallbacks)),
    )


def _copies(data: DevicesData) -> Table | None:
    if not data.copies:
        return None
    per_step = data.window_steps > 0
    notes = ["a line is the one that takes the tensor"]
    if not per_step:
        notes.append("no window of steps: sizes are for one call")
    if any(row.estimated for row in data.copies):
        notes.append("open batch dimensions as in the first call")
    if any(row.repeated for row in data.copies):
        notes.append("+: in a loop in the graph, counted once")
    if left := _left(len(data.copies)):
        notes.append(left)
    return Table(
        title="Copies between devices",
        columns=(
            Column("from"),
            Column("to"),
            Column("per step" if per_step else "per call", "bytes"),
            Column("copies", "number"),
            Column("what"),
            Column("line", "location"),
        ),
        rows=tuple(
            (
                row.source,
                row.target,
                row.bytes_per_step if per_step else row.bytes_per_call,
                row.copies_per_step,
                _what(row),
                _at(row.file, row.line),
            )
            for row in data.copies[:_ROWS]
        ),
        note="; ".join(notes),
    )


def _what(row: CopyRow) -> str:
    if row.kind == "input":
        return "a function's input"
    if row.kind == "eager":
        return f"input of eager {', '.join(row.users[:2])}"
    what = {"replicas": "between replicas", "variable": "a variable"}.get(row.kind, "result")
    return f"{what}: {', '.join(row.ops[:2])}{' +' * row.repeated}"


def _syncs(data: DevicesData) -> Table | None:
    if not data.host_syncs:
        return None
    return Table(
        title="Values of tensors that Python reads",
        columns=(
            Column("line", "location"),
            Column("by"),
            Column("from"),
            Column("per step" if data.window_steps else "reads", "number"),
            Column("waited per step" if data.window_steps else "waited", "ms"),
            Column("share", "share"),
        ),
        rows=tuple(
            (
                _at(row.file, row.line),
                ", ".join(row.how) + (f" in {row.through}" if row.through else ""),
                row.device,
                row.per_step if data.window_steps else row.count,
                row.blocked_ms if data.window_steps else row.total_ms,
                row.share_of_step,
            )
            for row in data.host_syncs[:_ROWS]
        ),
        note="; ".join(
            filter(
                None,
                (
                    f"in {plural(data.window_steps, 'step')}" if data.window_steps else "no whole step was seen",
                    "np.asarray(tensor) is not seen",
                    _left(len(data.host_syncs)),
                ),
            )
        ),
    )


def _trace(data: DevicesData) -> Table | None:
    if not data.accelerators:
        return None
    rows: list[tuple[str | int | float | None, ...]] = []
    for row in data.accelerators:
        rows.append((row.device, "busy", row.kernels, None, row.busy_ms))
    for copy in data.transfers:
        what = f"copies {_KINDS.get(copy.kind, copy.kind)}"
        rows.append((copy.device, what, copy.count, copy.bytes or None, copy.ms))
    return Table(
        title="Accelerators in the profiler's trace",
        columns=make_columns("device", "what", "count: count", "size: bytes", "time: ms"),
        rows=tuple(rows[:40]),
        note="over the whole trace",
    )


def _at(file: str, line: int) -> str | None:
    return f"{file}:{line}" if file else None


def _left(count: int) -> str:
    return f"{count - _ROWS} more are in the JSON report" if count > _ROWS else ""
