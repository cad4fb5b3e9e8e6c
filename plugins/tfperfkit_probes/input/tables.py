"""The tables of the report, and its one line."""

from __future__ import annotations

import os

from tfperfkit.model import Column, Table, make_columns
from tfperfkit.records.plural import plural
from tfperfkit_probes.input.model import InputData, Pipeline, Stage

#: Pipelines and rows shown; the rest is in the JSON report.
_PIPELINES, _ROWS = 4, 10


def summary(data: InputData) -> str:
    """One line: what feeds the steps, and what bounds it."""
    parts = []
    for item in [item for item in data.pipelines if item.in_training][:2]:
        parts.append(f"the steps are fed by the pipeline at {_at(item.file, item.line)}")
        if item.bound_by is not None:
            parts.append(f"its slowest stage is {_stage_name(item.stages[item.bound_by])}")
    if data.loaders:
        opens = sum(item.opens_per_step for item in data.loaders)
        parts.append(f"the script's own lines open {_number(opens)} file{'s' * (opens != 1)} per step")
    if data.constant_functions:
        count = len(data.constant_functions)
        parts.append(f"{count} function{'s' * (count > 1)} returned the same at every call")
    if not parts:
        if not data.pipelines or data.steps:
            return "no pipeline is known to feed the steps" if data.pipelines else "no input pipeline was seen"
        return f"{plural(len(data.pipelines), 'input pipeline')}, where nothing trains"
    return "; ".join(parts)


def tables(data: InputData) -> tuple[Table, ...]:
    """Those that have rows."""
    shown = [item for item in data.pipelines if len(item.stages) > 0][:_PIPELINES]
    left = len(data.pipelines) - len(shown)
    made = [_pipeline(item, left if item is shown[-1] else 0) for item in shown]
    return tuple(table for table in (*made, _keras(data), _loaders(data), _constant(data)) if table is not None)


def _pipeline(item: Pipeline, left: int) -> Table:
    role = {"training": "feeds the steps", "validation": "validation", "other": "not the steps' own"}.get(item.role, "")
    place = _at(item.file, item.line) or "unknown"
    per_step = any(stage.self_ms_per_step is not None for stage in item.stages)
    columns = [Column("stage"), Column("line", "location")]
    if item.measured:
        columns += [
            Column("per step" if per_step else "per batch", "ms"),
            Column("share", "share"),
            Column("items", "number"),
        ]
    columns += [Column("buffer"), Column("calls")]
    rows = []
    for stage in item.stages:
        threads = f" x{stage.parallelism:.0f}" if (stage.parallelism or 1) > 1 else ""
        name = f"{'· ' * (stage.nested is not None)}{_short(stage)}{threads}"
        row: list[str | int | float | None] = [name, _at(stage.file, stage.line)]
        if item.measured:
            row += [stage.self_ms_per_step if per_step else stage.self_ms_per_output, stage.share, stage.elements]
        row += [_buffer(stage), _calls(stage)]
        rows.append(tuple(row))
    empty = [
        place
        for place, column in enumerate(columns)
        if place > 1 and all(row[place] is None or row[place] == "" for row in rows)
    ]
    columns = [column for place, column in enumerate(columns) if place not in empty]
    rows = [tuple(value for place, value in enumerate(row) if place not in empty) for row in rows]
    about = ", ".join(filter(None, (f"inside {item.in_graph}" if item.in_graph else "", role)))
    return Table(
        title=f"Pipeline at {place} ({about})" if about else f"Pipeline at {place}",
        columns=tuple(columns),
        rows=tuple(rows),
        note=_pipeline_note(item, per_step, left),
        marked=(item.bound_by,) if item.bound_by is not None else (),
    )


def _pipeline_note(item: Pipeline, per_step: bool, left: int) -> str:
    notes = []
    if item.measured:
        what = "self time on all threads together" + ("" if per_step else ", for one element at the end")
        by = "TensorFlow's own measurement" if item.measured == "model" else "the profiler's trace"
        notes.append(f"{what}, by {by}")
    else:
        notes.append("times of its stages were not measured")
    if item.bound_by is not None:
        notes.append(
            f"{_stage_name(item.stages[item.bound_by])} bounds it: its section takes {_ms(item.bound_ms_per_output)} "
            "for a batch"
        )
    if any((stage.parallelism or 1) > 1 for stage in item.stages):
        notes.append("x2: two calls at a time")
    if any(stage.fused for stage in item.stages):
        fused = [_short(stage) for stage in item.stages if stage.fused]
        notes.append(f"{' and '.join(dict.fromkeys(fused))} run{'s' * (len(fused) == 1)} together with the next stage")
    if any(stage.added for stage in item.stages):
        notes.append("a stage without a line was added by TensorFlow")
    if item.fetch_ms_per_step is not None:
        notes.append(
            f"the step waits {_ms(item.fetch_ms_per_step)} for its batch "
            f"({'all clean steps' if item.fetch_window == 'baseline' else 'in the traced steps'})"
        )
    if (item.iterators_per_step or 0) >= 0.5:
        notes.append(f"{_number(item.iterators_per_step or 0)} iterators made per step")
    if left:
        notes.append(f"{left} more pipeline{'s are' if left > 1 else ' is'} in the JSON report")
    return "; ".join(notes)


def _keras(data: InputData) -> Table | None:
    rows = []
    for row in data.keras[:_ROWS]:
        if row.kind == "tf.data":
            continue
        settings = [f"workers {row.workers}"] if row.workers is not None else []
        if row.use_multiprocessing:
            settings.append("processes")
        if row.max_queue_size is not None and (row.workers or 0) > 1:
            settings.append(f"queue {row.max_queue_size}")
        if row.batch_size:
            settings.append(f"batch {row.batch_size}")
        kind = row.kind if row.kind != "PyDataset" else f"PyDataset {row.cls}"
        rows.append(
            (
                "validation" if row.validation else row.way,
                kind,
                _at(row.file, row.line),
                _at(row.place.file, row.place.line) if row.place else None,
                row.item_ms,
                ", ".join(settings) or None,
                row.arrays_bytes or None,
            )
        )
    if not rows:
        return None
    columns = make_columns(
        "for", "data", "given at: location", "its code: location", "for a batch: ms", "settings", "arrays: bytes"
    )
    kept = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)]
    return Table(
        title="Data given to Keras",
        columns=tuple(columns[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in rows),
    )


def _loaders(data: InputData) -> Table | None:
    if not data.loaders:
        return None
    return Table(
        title="Files that the script's own lines open during training",
        columns=make_columns(
            "file",
            "opened at: location",
            "loaded by: location",
            "opens a step: number",
            "size a step: bytes",
            "per step: ms",
            "share: share",
        ),
        rows=tuple(
            (
                os.path.basename(row.path) + (f" and {row.paths - 1} more" if row.paths > 1 else ""),
                _at(row.chain[0].file, row.chain[0].line),
                _at(row.loader.file, row.loader.line),
                row.opens_per_step,
                row.bytes_per_step,
                row.ms_per_step,
                row.share_of_step,
            )
            for row in data.loaders[:_ROWS]
        ),
        note="; ".join(
            filter(
                None,
                (
                    "time: samples with that line on the stack; size: of the opened files, not what was read of them",
                    f"{len(data.loaders) - _ROWS} more are in the JSON report" if len(data.loaders) > _ROWS else "",
                ),
            )
        ),
    )


def _constant(data: InputData) -> Table | None:
    if not data.constant_functions:
        return None
    return Table(
        title="Functions that returned the same value in every call",
        columns=make_columns(
            "function", "line: location", "calls: count", "a step: number", "share: share", "value", "size: bytes"
        ),
        rows=tuple(
            (
                row.function,
                _at(row.file, row.line),
                row.calls,
                row.calls_per_step,
                row.share_of_step,
                row.returns,
                row.size,
            )
            for row in data.constant_functions[:_ROWS]
        ),
        note=f"watched in {plural(len(data.watched), 'step')}; "
        "values are compared by type, shape and a sample of their bytes",
    )


def _calls(stage: Stage) -> str | None:
    if stage.mapped is None or any(part in stage.mapped.file for part in ("/tensorflow/", "/keras/")):
        return None
    name = stage.mapped.function.rpartition("<locals>.")[2]
    what = " (Python)" if stage.is_python else " (random)" if stage.stateful_or_random else ""
    return f"{name} :{stage.mapped.line}{what}"


def _buffer(stage: Stage) -> str | None:
    if stage.buffer is None:
        return None
    size = f"{stage.buffer:.0f}"
    return f"{stage.buffered_mean:.1f}".removesuffix(".0") + f"/{size}" if stage.buffered_mean is not None else size


def _short(stage: Stage) -> str:
    """Return a short name; a parallel stage is recognised by its threads."""
    return stage.kind.removeprefix("Parallel")


def _stage_name(stage: Stage) -> str:
    where = f"{os.path.basename(stage.file)}:{stage.line}" if stage.file else ""
    return f"{_short(stage)} ({where})" if where else f"{_short(stage)}, which TensorFlow added"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def _ms(value: float | None) -> str:
    if value is None:
        return "an unknown time"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.2g} ms"


def _at(file: str, line: int) -> str | None:
    return f"{file}:{line}" if file else None
