"""Make the result of the probe ``tfprof`` from a recorded trace: data, tables, offers, and its part of the timeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, cast

from tfperfkit import probe as contract
from tfperfkit.errors import Unavailable
from tfperfkit.model import Column, ProbeResult, Table, make_columns
from tfperfkit.offers import (
    AcceleratorUse,
    Exchange,
    Exchanges,
    FunctionCalls,
    GraphWaits,
    InputPrefetch,
    Instantiations,
    OperationsAfterSteps,
    RanOperation,
    RanOperations,
    StepBreakdown,
    XlaCompilations,
)
from tfperfkit.records.convert import read
from tfperfkit.records.parts import PARTS, TRACED
from tfperfkit.records.plural import plural
from tfperfkit.records.steps import StepTable
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.timeline import Tick, Timeline
from tfperfkit.xplane import DEFAULT_LIMIT_BYTES, open_space
from tfperfkit.xplane.names import is_fetch
from tfperfkit_probes.tfprof import timeline
from tfperfkit_probes.tfprof.analysis import RunClock, TraceFacts, analyse
from tfperfkit_probes.tfprof.model import ExchangeRow, OpRow, TfprofData
from tfperfkit_probes.tfprof.streams import Capture, wanted

_ROWS = 12


def result(capture: contract.Capture) -> ProbeResult:
    """Read the trace; without one that can be read it failed, for the reason that was recorded."""
    records = read(capture, "captures", Capture)
    kept = [record for record in records if record.file]
    recorded = next((record for record in reversed(kept) if record.steps), kept[-1] if kept else None)
    try:
        path = _trace_file(capture.trace_dir, recorded)
        with open_space(path, _limit(capture.options)) as space:
            facts = analyse(space, capture.steps)
    except Unavailable as error:
        reasons = [record.reason for record in records if record.reason]
        if not records and capture.run.status != "finished":
            reasons = ["no trace was recorded: the script ended before one was complete"]
        return ProbeResult(status="failed", reason=reasons[-1] if reasons else str(error), notes=capture.notes)
    later = kept[-1] if kept and kept[-1] is not recorded else None
    after, after_notes = _after_steps(capture, later) if later is not None else (None, [])
    ended = recorded.ended if recorded else "unknown"
    data = TfprofData(
        steps=facts.steps,
        trace_dir="trace",
        trace_file=path.relative_to(capture.trace_dir).as_posix(),
        top_ops=facts.top_ops,
        input_share=facts.input_share,
        breakdown_ms=facts.breakdown_ms,
        step_ms=facts.step_ms,
        first_step=facts.first_step,
        last_step=facts.last_step,
        window_ms=facts.window_ms,
        wall_ms=facts.wall_ms,
        input_ops=facts.input_ops,
        rest_ms=facts.rest_ms,
        devices=facts.devices,
        python_tracer=_python_tracer(facts, recorded),
        ended=ended,
        start_ms=recorded.start_ms if recorded else 0.0,
        stop_ms=recorded.stop_ms if recorded else 0.0,
        graph_wait_share=facts.graph_wait_share,
        longer_wait_share=facts.longer_wait_share,
        prefetches=facts.prefetches,
        calls=facts.calls,
        xla_compiles=facts.xla_compiles,
        xla_compile_ms=facts.xla_compile_ms,
        xla_programs=facts.xla_programs,
        instantiations=facts.instantiations,
        instantiation_ms=facts.instantiation_ms,
        exchanges=facts.exchanges,
        exchange_ms=facts.exchange_ms,
        exchange_hidden_ms=facts.exchange_hidden_ms,
    )
    notes = [*capture.notes, *facts.notes, *after_notes]
    if wanted(capture.options.get("python")) and not data.python_tracer:
        notes.append("the Python tracer was asked for, but the trace says that it was off")
    cut = ended in _CUT
    return ProbeResult(
        data=data,
        tables=tuple(_tables(facts)),
        summary=_summary(facts),
        notes=tuple(dict.fromkeys(notes)),
        status="cut" if cut else "ok",
        reason=_CUT.get(ended),
        offers=offers(data, after, facts.run_clock),
    )


def _after_steps(capture: contract.Capture, recorded: Capture) -> tuple[TraceFacts | None, list[str]]:
    """Return the operations of a stretch after the steps, and a note about the stretch."""
    try:
        with open_space(_trace_file(capture.trace_dir, recorded), _limit(capture.options)) as space:
            facts = analyse(space, StepTable())
    except Unavailable as error:
        return None, [f"the trace after the steps can't be read: {error}"]
    return facts, [f"another {facts.wall_ms:,.0f} ms were traced after the steps had ended"]


def slices(capture: contract.Capture, limit: int, tick: Tick) -> Timeline:
    """See ``tfperfkit.timeline``."""
    files = trace_files(capture.trace_dir)
    return timeline.timeline(capture, files, _limit(capture.options), limit, tick)


_CUT = {
    "time": "the window took too long",
    "memory": "the trace grew too large",
    "events": "so many events would have taken seconds to write",
    "script": "the script started the TF Profiler itself",
    "exit": "the script ended within the window",
}


def _trace_file(trace_dir: Path, recorded: Capture | None) -> Path:
    if recorded is not None and recorded.file is not None:
        wanted = PurePath(recorded.file)
        found = [path for path in trace_files(trace_dir) if path.relative_to(trace_dir) == wanted]
        if not found and (wanted.is_absolute() or ".." in wanted.parts):
            raise Unavailable("the record of the trace names a file outside of the run directory")
        if not found:
            raise Unavailable("the trace is no longer in the run directory, or only as a link")
        return found[0]
    found = trace_files(trace_dir)
    if not found:
        raise Unavailable("no trace was recorded")
    return found[-1]


def _limit(options: Mapping[str, Any]) -> int:
    try:
        return int(float(options["max_mb"]) * 1e6)
    except (KeyError, TypeError, ValueError, OverflowError):
        return DEFAULT_LIMIT_BYTES


def _python_tracer(facts: TraceFacts, recorded: Capture | None) -> bool:
    if facts.options is not None:
        return facts.options["python_tracer_level"] > 0
    return recorded is not None and recorded.python


def _summary(facts: TraceFacts) -> str:
    if not facts.steps or facts.step_ms is None:
        return f"a trace of {facts.wall_ms:,.0f} ms without steps"
    digits = 0 if facts.step_ms >= 100 else 2
    return f"{plural(facts.steps, 'step')} traced, {facts.step_ms:,.{digits}f} ms each with the profiler on"


def _tables(facts: TraceFacts) -> list[Table]:
    tables = []
    parts = facts.breakdown_ms or facts.window_ms
    whole = sum(parts.values())
    if whole:
        tables.append(
            Table(
                title="Where the traced step went" if facts.breakdown_ms else "Where the traced window went",
                columns=make_columns("part", "time: ms", "share: share"),
                rows=tuple((PARTS[name].traced, parts[name], parts[name] / whole) for name in TRACED if parts[name]),
                note="training thread, each moment counted once; measured with the profiler on",
            )
        )
    if facts.top_ops:
        tables.append(_op_table("Operations, by self time", facts.top_ops, facts.steps))
    if working := tuple(op for op in facts.input_ops if not is_fetch(op.type)):
        tables.append(_op_table("Operations of the input pipeline, on any thread", working, facts.steps))
    if facts.devices:
        tables.append(
            Table(
                title="Accelerators in the traced steps",
                columns=make_columns("device", "busy: ms", "share: share"),
                rows=tuple((row.device, row.busy_ms, row.busy_share) for row in facts.devices),
            )
        )
    return tables


def _op_table(title: str, ops: tuple[OpRow, ...], steps: int) -> Table:
    per_step = max(steps, 1)
    # An eager operation's name is its type: such a table needs no column of names.
    named = any(op.name != op.type for op in ops[:_ROWS])
    columns = [
        Column("operation"),
        Column("type"),
        Column("runs as"),
        Column("per step", "number"),
        Column("ms per step" if steps else "time", "ms"),
        Column("share", "share"),
    ]
    rows = [
        (_short(op.name), op.type, op.where, op.count / per_step, op.self_ms / per_step, op.share) for op in ops[:_ROWS]
    ]
    skip = 0 if named else 1
    return Table(
        title=title,
        columns=tuple(columns[skip:]),
        rows=tuple(row[skip:] for row in rows),
        note="self time (without operations within it) on all threads together; share of that of all such operations",
    )


def _short(name: str) -> str:
    """Return an operation's name without the call around the whole of a Keras step; the data keeps it."""
    return name.removeprefix("StatefulPartitionedCall/") or name


def offers(data: TfprofData, after: TraceFacts | None = None, clock: RunClock | None = None) -> tuple[Any, ...]:
    """Offer what the trace tells; without steps only what does not need them. ``after``: facts of a second trace, after
    the steps. ``clock``: that of the first trace."""
    made: list[Any] = [
        RanOperations(steps=data.steps, rows=_rows(data.top_ops), input=_rows(data.input_ops), rest_ms=data.rest_ms),
        FunctionCalls(per_step={row.name: row.per_step for row in data.calls}),
        XlaCompilations(
            count=data.xla_compiles, ms=data.xla_compile_ms, wall_ms=data.wall_ms, programs=data.xla_programs
        ),
        Instantiations(count=data.instantiations, ms=data.instantiation_ms, wall_ms=data.wall_ms),
        AcceleratorUse(busy_share={row.device: row.busy_share for row in data.devices}),
        InputPrefetch(there=data.prefetches),
    ]
    if data.breakdown_ms:
        longer = data.longer_wait_share
        made.append(
            StepBreakdown(parts_ms=data.breakdown_ms, steps=data.steps, words="the trace", longer_wait_share=longer)
        )
    elif data.graph_wait_share is not None:
        made.append(GraphWaits(share=data.graph_wait_share, words="the trace"))
    if data.exchanges:
        rows = tuple(
            Exchange(step=row.step, name=row.name, ms=row.ms, ended_ns=_ended_ns(row, clock)) for row in data.exchanges
        )
        error = clock.error_ms if clock is not None else 0.0
        made.append(
            Exchanges(
                rows=rows,
                ms_per_step=data.exchange_ms,
                hidden_ms_per_step=data.exchange_hidden_ms,
                steps=data.steps,
                clock_error_ms=error,
            )
        )
    if after is not None:
        made.append(OperationsAfterSteps(wall_ms=after.wall_ms, rows=_rows(after.top_ops), rest_ms=after.rest_ms))
    return tuple(made)


def _ended_ns(row: ExchangeRow, clock: RunClock | None) -> int | None:
    begin = clock.begins_ns.get(row.step) if clock is not None else None
    return round(begin + (row.after_ms + row.ms) * 1e6) if begin is not None else None


def _rows(rows: Iterable[OpRow]) -> tuple[RanOperation, ...]:
    return tuple(
        RanOperation(
            name=row.name,
            type=row.type,
            count=row.count,
            self_ms=row.self_ms,
            where=cast(Any, row.where),
            kernel_ms=row.kernel_ms,
        )
        for row in rows
    )
