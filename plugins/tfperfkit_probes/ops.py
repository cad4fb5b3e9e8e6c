"""The probe ``ops``: what each concrete function executes, operation by operation, and what each of them costs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from tfperfkit.instruments import tracing
from tfperfkit.model import ProbeResult, Table
from tfperfkit.probe import API_VERSION, Capture, Cost, Recording
from tfperfkit_probes import ops_dump, ops_findings, ops_tables
from tfperfkit_probes.ops_analysis import Records, functions
from tfperfkit_probes.ops_brief import brief
from tfperfkit_probes.ops_model import Function, OpsData
from tfperfkit_probes.ops_record import Recorder
from tfperfkit_probes.ops_source import Sources


class OpsProbe:
    """Reads a graph once, when it was traced, and once when it is first executed: nothing on the steady path.

    Options: ``keras`` (show Keras' own functions too), ``dump`` and ``autograph`` (a function's name), ``xla`` (ask
    XLA, which lowers and compiles each function once more).
    """

    api: ClassVar[int] = API_VERSION
    name: ClassVar[str] = "ops"
    cost: ClassVar[Cost] = Cost.FREE
    claims: ClassVar[frozenset[str]] = frozenset()

    @contextlib.contextmanager
    def record(self, recording: Recording, /) -> Iterator[None]:
        """Append the streams of ``ops_record``. Raises ``Unavailable`` without a known seam."""
        recorder = Recorder(recording)
        unsubscribe = tracing.subscribe(recorder)
        try:
            yield
        finally:
            unsubscribe()
            recorder.close()

    def analyze(self, capture: Capture, /) -> ProbeResult:
        """Count and judge; write the dump that was asked for beside the records."""
        records = Records(capture)
        sources = Sources(capture.source)
        every = functions(records, sources, lambda record: True)
        with_keras = bool(capture.options.get("keras"))
        shown = [function for function in every if with_keras or function.owner == "user"]
        notes = list(capture.notes)
        lost = len(records.functions) and not every
        if lost:
            notes.append("the recorded graphs are damaged or were cut off: no function can be shown")
        found = ops_findings.findings(every, lambda file: bool(capture.source(file)))
        data = OpsData(
            functions=shown, left_out=len(every) - len(shown), all=tuple(map(brief, every)), found=tuple(found)
        )
        extra: list[Table] = []
        data = _dump(capture, records, every, data, extra, notes)
        data = _autograph(capture, records, data, extra, notes)
        _hlo(capture, records, every, notes)
        return ProbeResult(
            data=data,
            tables=(*ops_tables.tables(shown, capture.source), *extra),
            summary=_summary(every, shown),
            notes=tuple(dict.fromkeys(notes)),
        )


def _summary(every: Sequence[Function], shown: Sequence[Function]) -> str:
    if not every:
        return "no tf.function was traced"
    if not shown:
        largest = max(every, key=lambda function: function.operations)
        after = f", {largest.optimized.operations:,} after Grappler" if largest.optimized is not None else ""
        flops = ""
        if largest.flops and "not counted" not in largest.flops_note:  # of open sizes next to nothing is counted
            flops = f", {largest.flops / 1e6:,.1f} MFLOP a call"
        return (
            f"no tf.function of your own; the largest of Keras' {len(every)}, {largest.function}, has "
            f"{largest.operations:,} operations{after}{flops} (--ops-keras shows it)"
        )
    operations = sum(function.operations for function in shown)
    many = "" if len(shown) == 1 else "s"
    left = len(every) - len(shown)
    more = f"; {left} of Keras' own left out (--ops-keras)" if left else ""
    return f"{len(shown)} concrete function{many}, {operations:,} operations{more}"


def _matching(name: str, every: Sequence[Function]) -> list[Function]:
    found = [function for function in every if name in (function.function, function.qualname)]
    return sorted(found, key=lambda function: function.first_execution_ms is None)


def _dump(
    capture: Capture, records: Records, every: Sequence[Function], data: OpsData, extra: list[Table], notes: list[str]
) -> OpsData:
    name = str(capture.options.get("dump") or "")
    if not name:
        return data
    found = _matching(name, every)
    graph = records.graph(found[0].graph) if found else None
    if graph is None:
        notes.append(ops_dump.nearest(name, ((f.function, f.qualname) for f in records.functions)))
        return data
    function = found[0]
    listed = ops_dump.operations(records.with_bodies(graph))
    files = [
        ops_dump.write(capture.directory, f"{function.function}.txt", ops_dump.text(function, listed)),
        ops_dump.write(capture.directory, f"{function.function}.json", listed),
    ]
    extra.append(ops_dump.table(function, listed, [file for file in files if file]))
    if len(found) > 1:
        notes.append(f"{len(found)} concrete functions are called {name}; the dump is of {function.signature}")
    return msgspec.structs.replace(data, dump=listed, dump_function=function.graph)


def _autograph(
    capture: Capture, records: Records, data: OpsData, extra: list[Table], notes: list[str]
) -> OpsData:
    name = str(capture.options.get("autograph") or "")
    if not name:
        return data
    if not records.autograph:
        notes.append(ops_dump.nearest(name, ((f.function, f.qualname) for f in records.functions)))
        return data
    record = records.autograph[0]
    extra.append(ops_tables.autograph(record))
    return msgspec.structs.replace(data, autograph=record)


def _hlo(capture: Capture, records: Records, every: Sequence[Function], notes: list[str]) -> None:
    """Write what XLA made of the functions beside the records."""
    files: list[Any] = []
    for function in every:
        asked = records.xla.get(function.graph)
        if asked is not None and asked.view.hlo:
            for stage, text in (("before", asked.view.hlo), ("after", asked.view.optimized_hlo)):
                if text:
                    files.append(ops_dump.write(capture.directory, f"{function.function}.hlo.{stage}.txt", text))
    written = [file for file in files if file]
    if written:
        notes.append(f"XLA's HLO is in {', '.join(written[:6])} of the run directory")
