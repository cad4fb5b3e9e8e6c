"""From the recorded traces to the result of the probe ``retrace``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tfperfkit.clock import ms
from tfperfkit.model import ProbeResult, Table, make_columns
from tfperfkit.offers import (
    AvoidableTracing,
    CallShape,
    CallShapes,
    TraceCount,
    TraceCounts,
    VaryingArgument,
    VaryingArguments,
)
from tfperfkit.probe import Capture
from tfperfkit.records.convert import read
from tfperfkit.records.plural import plural
from tfperfkit_probes.retrace.analysis import Group, group, traced_function
from tfperfkit_probes.retrace.model import STREAM, RetraceData, TracedFunction, TraceRecord

_MAX_ROWS = 40
_MAX_VALUES = 100


def result(capture: Capture) -> ProbeResult:
    """Number and judge the traces: why each happened, and which could have been avoided."""
    records = read(capture, STREAM, TraceRecord)
    limits = sorted({record.limits for record in records if record.limits})
    groups = group(records, capture.steps)
    functions = [traced_function(found) for found in groups]
    data = RetraceData(
        functions=functions,
        traces=len(records),
        retraces=sum(function.retraces for function in functions),
        tracing_ms=ms(sum(record.self_ns for record in records)),
        avoidable_ms=sum(function.avoidable_ms for function in functions),
        limits=limits,
    )
    return ProbeResult(
        data=data,
        tables=_tables(functions, groups),
        summary=_summary(data),
        notes=tuple(dict.fromkeys((*capture.notes, *limits))),
        offers=(
            AvoidableTracing(ms=data.avoidable_ms),
            _counts(functions),
            _varying(functions),
            CallShapes(calls=() if limits else tuple(dict.fromkeys(_list_shapes(groups)))),
        ),
    )


def _counts(functions: Sequence[TracedFunction]) -> TraceCounts:
    rows = []
    for each in functions:
        site = next((trace.call_site for trace in reversed(each.traces) if trace.call_site is not None), None)
        rows.append(
            TraceCount(
                function=each.function,
                file=each.file,
                line=each.line,
                owner=each.owner,
                traces=len(each.traces),
                retraces=each.retraces,
                ms=sum(trace.self_ms for trace in each.traces),
                site=(site.file, site.line) if site is not None else None,
            )
        )
    return TraceCounts(functions=tuple(rows))


def _varying(functions: Sequence[TracedFunction]) -> VaryingArguments:
    rows: dict[tuple[str, int, str], list[str]] = {}
    for each in functions:
        for trace in each.traces:
            for item in trace.cause if trace.blame == "python_value" else ():
                if item.way == "value":
                    rows.setdefault((each.file, each.line, item.path), []).extend((item.before, item.after))
    return VaryingArguments(
        arguments=tuple(
            VaryingArgument(file=file, line=line, argument=path, values=tuple(dict.fromkeys(values))[:_MAX_VALUES])
            for (file, line, path), values in rows.items()
        )
    )


def _list_shapes(groups: Sequence[Group]) -> Iterator[CallShape]:
    """Yield the lines that call a function of the user's, if all its traces have the same number of rows."""
    for found in groups:
        records = [trace.record for trace in found.traces]
        sizes = {_find_largest(record) for record in records}
        largest = sizes.pop() if len(sizes) == 1 and found.first.owner == "user" and not found.earlier else None
        for record in records if largest is not None else ():
            site = record.call_site
            if largest is not None and site is not None and record.outer_id is None:
                yield CallShape(file=site.file, line=site.line, argument=largest[1], rows=largest[0])


def _find_largest(record: TraceRecord) -> tuple[int, str] | None:
    """Return the rows and the parameter of the tensor with the most rows; None if no tensor has a known number."""
    shapes = [(item.shape, item.path) for item in record.arguments if item.kind == "tensor" and item.shape]
    shape, path = max(shapes, key=lambda pair: (pair[0][0], math.prod(pair[0])), default=([0], ""))
    return (shape[0], path) if shape[0] > 0 else None


def _summary(data: RetraceData) -> str:
    if not data.traces:
        return "no tf.function was traced"
    one = data.traces == 1
    traces = f"{data.traces} trace{'' if one else 's'} of {len(data.functions)} function" + (
        "" if len(data.functions) == 1 else "s"
    )
    avoidable = sum(function.avoidable for function in data.functions)
    verdict = f"{avoidable} could be avoided ({_duration(data.avoidable_ms)})" if avoidable else "none to blame"
    return f"{traces} in {_duration(data.tracing_ms)}; {verdict}"


def _duration(duration_ms: float) -> str:
    return f"{duration_ms / 1000:.2f} s" if duration_ms >= 1000 else f"{duration_ms:.0f} ms"


def _tables(functions: Sequence[TracedFunction], groups: Sequence[Group]) -> tuple[Table, ...]:
    if not functions:
        return ()
    tables = [_functions_table(functions)]
    if any(trace.kind in ("retrace", "new_function_object") for found in groups for trace in found.traces):
        tables.append(_retraces_table(groups))
    return tuple(tables)


def _functions_table(functions: Sequence[TracedFunction]) -> Table:
    """One row for each function of the user's or of Keras; TensorFlow's and tf.data's own in one row each."""
    shown = [function for function in functions if function.owner in ("user", "keras")]
    shown.sort(key=lambda function: -sum(trace.self_ms for trace in function.traces))
    rows: list[tuple[str | int | float | None, ...]] = []
    for function in shown[:_MAX_ROWS]:
        rows.append(
            (
                function.function,
                _location(function),
                len(function.traces),
                function.retraces,
                function.avoidable,
                sum(trace.self_ms for trace in function.traces),
            )
        )
    marked = tuple(number for number, function in enumerate(shown[:_MAX_ROWS]) if function.avoidable)
    for owner in ("tf.data", "tensorflow"):
        others = [function for function in functions if function.owner == owner]
        if others:
            traces = [trace for function in others for trace in function.traces]
            avoidable = sum(trace.avoidable for trace in traces)
            total = sum(trace.self_ms for trace in traces)
            rows.append((f"({owner}: {plural(len(others), 'function')})", None, len(traces), 0, avoidable, total))
    left = len(shown) - _MAX_ROWS
    return Table(
        title="Traced functions",
        columns=make_columns(
            "function", "defined at: location", "traces: count", "retraces: count", "avoidable: count", "tracing: ms"
        ),
        rows=tuple(rows),
        note=f"{left} more in the JSON report" if left > 0 else "",
        marked=marked,
    )


def _location(function: TracedFunction) -> str | None:
    """Return a place; that of an installed file from its package on: where it is installed would fill the column."""
    if not function.file:
        return None
    installed = max(function.file.rfind("site-packages/"), function.file.rfind("dist-packages/"))
    return f"{function.file[installed + 14 :] if installed >= 0 else function.file}:{function.line}"


def _retraces_table(groups: Sequence[Group]) -> Table:
    """The retraces and new function objects, in the order in which they happened."""
    traces = [
        (found, trace) for found in groups for trace in found.traces if trace.kind in ("retrace", "new_function_object")
    ]
    traces.sort(key=lambda pair: pair[1].record.begin_ns)
    rows: list[tuple[str | int | float | None, ...]] = []
    for found, trace in traces[:_MAX_ROWS]:
        cause = "; ".join(f"{d.path}: {d.before} → {d.after}" for d in trace.cause[:3])
        site = trace.record.call_site
        rows.append(
            (
                f"{found.first.function} #{trace.number}",
                trace.step or None,
                ms(trace.lost_ns),
                cause or "not known",
                f"{site.file}:{site.line}" if site else None,
            )
        )
    left = len(traces) - _MAX_ROWS
    return Table(
        title="Retraces",
        columns=make_columns("trace", "step: count", "took: ms", "cause", "called from: location"),
        rows=tuple(rows),
        note=f"{left} more are in the JSON report" if left > 0 else "",
        marked=tuple(number for number, (_, trace) in enumerate(traces[:_MAX_ROWS]) if trace.blame),
    )
