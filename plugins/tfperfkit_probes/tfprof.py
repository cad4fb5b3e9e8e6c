"""The probe ``tfprof``: a few steps under the TF Profiler; the step's breakdown, its operations, the input's share."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Any, ClassVar

import msgspec

from tfperfkit import probe as contract
from tfperfkit.errors import Unavailable
from tfperfkit.inside import trace_files
from tfperfkit.model import Column, ProbeResult, Table
from tfperfkit.probe import Cost, Recording
from tfperfkit.timeline import Tick, Timeline
from tfperfkit.typed import read
from tfperfkit_probes.tfprof_analysis import CallRow, OpRow, TraceFacts, analyse
from tfperfkit_probes.tfprof_breakdown import PARTS
from tfperfkit_probes.tfprof_names import is_fetch
from tfperfkit_probes.tfprof_record import Capture, Recorder, wanted
from tfperfkit_probes.tfprof_timeline import timeline
from tfperfkit_probes.xplane import DEFAULT_LIMIT_BYTES, open_space

_ROWS = 12


class TfprofData(msgspec.Struct, frozen=True, kw_only=True):
    """The probe's record in the JSON report. ``trace_dir`` is relative to the run directory."""

    steps: int
    trace_dir: str
    trace_file: str
    top_ops: tuple[OpRow, ...]
    input_share: float | None
    breakdown_ms: dict[str, float] | None
    step_ms: float | None
    first_step: int | None
    last_step: int | None
    window_ms: dict[str, float]
    wall_ms: float
    input_ops: tuple[OpRow, ...]
    rest_ms: float
    devices: tuple[Any, ...]
    python_tracer: bool
    ended: str
    start_ms: float
    stop_ms: float
    prefetches: bool = False  # the pipeline ends with a prefetch, the script's or one that tf.data put in
    calls: tuple[CallRow, ...] = ()
    xla_compiles: int = 0  # in the traced steps, in all
    xla_compile_ms: float = 0.0  # of these, making machine code


class TfprofProbe:
    """Records a trace of the window's steps and reads it without TensorFlow.

    Options: ``python`` (off) also traces Python calls: more to see in the trace viewer, and eager steps take about
    40 % longer; ``max_mb`` (512) is the size up to which a trace is read.
    """

    api: ClassVar[int] = 1
    name: ClassVar[str] = "tfprof"
    cost: ClassVar[Cost] = Cost.WINDOW
    claims: ClassVar[frozenset[str]] = frozenset({"tf.profiler"})

    def record(self, recording: Recording, /) -> AbstractContextManager[None]:
        return Recorder(recording)

    def analyze(self, capture: contract.Capture, /) -> ProbeResult:
        records = read(capture, "captures", Capture)
        recorded = next((record for record in reversed(records) if record.file), None)
        try:
            path = _trace_file(capture.trace_dir, recorded)
            with open_space(path, _limit(capture.options)) as space:
                facts = analyse(space, capture.steps)
        except Unavailable as error:
            reasons = [record.reason for record in records if record.reason]
            if not records and capture.run.status != "finished":
                reasons = ["no trace was recorded: the script ended before one was complete"]
            return ProbeResult(status="failed", reason=reasons[-1] if reasons else str(error), notes=capture.notes)
        ended = recorded.ended if recorded else "unknown"
        data = TfprofData(
            steps=facts.steps, trace_dir="trace", trace_file=path.relative_to(capture.trace_dir).as_posix(),
            top_ops=facts.top_ops, input_share=facts.input_share, breakdown_ms=facts.breakdown_ms,
            step_ms=facts.step_ms, first_step=facts.first_step, last_step=facts.last_step,
            window_ms=facts.window_ms, wall_ms=facts.wall_ms, input_ops=facts.input_ops, rest_ms=facts.rest_ms,
            devices=facts.devices, python_tracer=_python_tracer(facts, recorded), ended=ended,
            start_ms=recorded.start_ms if recorded else 0.0, stop_ms=recorded.stop_ms if recorded else 0.0,
            prefetches=facts.prefetches, calls=facts.calls,
            xla_compiles=facts.xla_compiles, xla_compile_ms=facts.xla_compile_ms,
        )
        notes = [*capture.notes, *facts.notes]
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
        )

    def timeline(self, capture: contract.Capture, most: int, tick: Tick, /) -> Timeline:
        """The trace for ``tfperf trace``."""
        files = trace_files(capture.trace_dir)
        return timeline(capture, files, _limit(capture.options), most, tick)


_CUT = {
    "time": "the window took too long",
    "memory": "the trace grew too large",
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
    return f"{facts.steps} steps traced, {facts.step_ms:,.{digits}f} ms each with the profiler on"


def _tables(facts: TraceFacts) -> list[Table]:
    tables = []
    parts = facts.breakdown_ms or facts.window_ms
    whole = sum(parts.values())
    if whole:
        tables.append(
            Table(
                title="Where the traced step went" if facts.breakdown_ms else "Where the traced window went",
                columns=(Column("part"), Column("time", "ms"), Column("share", "share")),
                rows=tuple((_WORDS[name], parts[name], parts[name] / whole) for name in PARTS if parts[name]),
                note="training thread, each moment counted once; measured with the profiler on",
            )
        )
    if facts.top_ops:
        tables.append(_op_table("Operations, by their own time", facts.top_ops, facts.steps))
    if working := tuple(op for op in facts.input_ops if not is_fetch(op.type)):
        tables.append(_op_table("Operations of the input pipeline, on any thread", working, facts.steps))
    if facts.devices:
        tables.append(
            Table(
                title="Accelerators in the traced steps",
                columns=(Column("device"), Column("busy", "ms"), Column("share", "share")),
                rows=tuple((row.device, row.busy_ms, row.busy_share) for row in facts.devices),
            )
        )
    return tables


_WORDS = {
    "input": "input: waiting for the next batch",
    "python": "python: outside of TensorFlow's runtime",
    "eager_ops": "eager operations, one by one",
    "graph": "compiled functions",
    "tracing": "tracing functions",
    "other": "freeing tensors and iterators",
}


def _op_table(title: str, ops: tuple[OpRow, ...], steps: int) -> Table:
    per_step = max(steps, 1)
    # An eager operation's name is its type: such a table needs no column of names.
    named = any(op.name != op.type for op in ops[:_ROWS])
    columns = [
        Column("operation"), Column("type"), Column("runs as"), Column("per step", "number"),
        Column("ms per step" if steps else "time", "ms"), Column("share", "share"),
    ]
    rows = [
        (_short(op.name), op.type, op.where, op.count / per_step, op.self_ms / per_step, op.share)
        for op in ops[:_ROWS]
    ]
    skip = 0 if named else 1
    return Table(
        title=title, columns=tuple(columns[skip:]), rows=tuple(row[skip:] for row in rows),
        note="own time on all threads together; share of the own time of all such operations",
    )


def _short(name: str) -> str:
    """An operation's name without the call around the whole of a Keras step; the data keeps it."""
    return name.removeprefix("StatefulPartitionedCall/") or name
