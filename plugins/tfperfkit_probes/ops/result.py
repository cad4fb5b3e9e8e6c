"""From the records to the result of the probe ``ops``, with what was asked for: a dump, AutoGraph's code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tfperfkit.graph.recorded import RecordedGraphs
from tfperfkit.model import ProbeResult, Table
from tfperfkit.offers import FunctionCosts
from tfperfkit.probe import Capture
from tfperfkit.records.plural import plural
from tfperfkit_probes.ops import dump, tables
from tfperfkit_probes.ops.analysis import Records, fixed_in, functions
from tfperfkit_probes.ops.brief import brief
from tfperfkit_probes.ops.mapped import mapped_graphs, session_graphs
from tfperfkit_probes.ops.model import Function, OpsData
from tfperfkit_probes.ops.source import Sources


def result(capture: Capture) -> ProbeResult:
    """Count; write the dump that was asked for next to the records."""
    records = Records(capture)
    sources = Sources(capture.source)
    every = functions(records, sources, lambda record: True, capture.steps.batch_size)
    with_keras = bool(capture.options.get("keras"))
    shown = [function for function in every if with_keras or function.owner == "user"]
    notes = list(capture.notes)
    lost = len(records.functions) and not every
    if lost:
        notes.append("the recorded graphs are damaged or were cut off: no function can be shown")
    short = (*map(brief, every), *session_graphs(records, sources))
    data = OpsData(functions=shown, left_out=len(every) - len(shown), all=short)
    extra: list[Table] = []
    data = _dump(capture, records, every, data, extra, notes)
    data = _autograph(capture, records, data, extra, notes)
    _hlo(capture, records, every, notes)
    return ProbeResult(
        data=data,
        tables=(*tables.tables(shown, capture.source), *extra),
        summary=_summary(every, shown),
        notes=tuple(dict.fromkeys(notes)),
        offers=(
            FunctionCosts(functions=data.all),
            mapped_graphs(records, sources),
            fixed_in(records),
            RecordedGraphs(records.compiled, records.called),
            records.sessions,
        ),
    )


def _summary(every: Sequence[Function], shown: Sequence[Function]) -> str:
    if not every:
        return "no tf.function was traced"
    if not shown:
        largest = max(every, key=lambda function: function.operations)
        after = f", {largest.optimized.operations:,} after Grappler" if largest.optimized is not None else ""
        flops = ""
        # an open size counts as 1, so almost nothing is counted
        if largest.flops and "not counted" not in largest.flops_note:
            flops = f", {largest.flops / 1e6:,.1f} MFLOP a call"
        return (
            f"no tf.function of your own; the largest of Keras' {len(every)}, {largest.function}, has "
            f"{plural(largest.operations, 'operation')}{after}{flops} (--ops-keras shows it)"
        )
    operations = sum(function.operations for function in shown)
    left = len(every) - len(shown)
    more = f"; {left} of Keras' own left out (--ops-keras)" if left else ""
    return f"{plural(len(shown), 'concrete function')}, {plural(operations, 'operation')}{more}"


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
        notes.append(dump.nearest(name, ((f.function, f.qualname) for f in records.functions)))
        return data
    function = found[0]
    listed = dump.operations(records.with_bodies(graph))
    files = [
        dump.write(capture.directory, f"{function.function}.txt", dump.text(function, listed)),
        dump.write(capture.directory, f"{function.function}.json", listed),
    ]
    extra.append(dump.table(function, listed, [file for file in files if file]))
    if len(found) > 1:
        notes.append(f"{len(found)} concrete functions are called {name}; the dump is of {function.signature}")
    return msgspec.structs.replace(data, dump=listed, dump_function=function.graph)


def _autograph(capture: Capture, records: Records, data: OpsData, extra: list[Table], notes: list[str]) -> OpsData:
    name = str(capture.options.get("autograph") or "")
    if not name:
        return data
    if not records.autograph:
        notes.append(dump.nearest(name, ((f.function, f.qualname) for f in records.functions)))
        return data
    record = records.autograph[0]
    extra.append(tables.autograph(record))
    return msgspec.structs.replace(data, autograph=record)


def _hlo(capture: Capture, records: Records, every: Sequence[Function], notes: list[str]) -> None:
    """Write the functions as XLA compiled them next to the records."""
    files: list[Any] = []
    for function in every:
        asked = records.xla.get(function.graph)
        if asked is not None and asked.view.hlo:
            for stage, text in (("before", asked.view.hlo), ("after", asked.view.optimized_hlo)):
                if text:
                    files.append(dump.write(capture.directory, f"{function.function}.hlo.{stage}.txt", text))
    written = [file for file in files if file]
    if written:
        notes.append(f"XLA's HLO is in {', '.join(written[:6])} of the run directory")
