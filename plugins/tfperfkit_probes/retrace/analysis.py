"""From the recorded traces to functions: numbers, kinds, what could have been avoided, and the pattern over all.

Reads records only; needs no TensorFlow.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence

from tfperfkit.clock import ms
from tfperfkit.records.steps import StepTable
from tfperfkit_probes.retrace.cause import changed_dimensions, main_difference, sizes
from tfperfkit_probes.retrace.model import Blame, Difference, Kind, Trace, TracedFunction, TraceRecord, Way

#: A flag or a mode gets a trace of its own and that is what tf.function is for: not blamed below this many traces.
_MODES = 3
_BLAME_OF: dict[Way, Blame] = {
    "value": "python_value",
    "rank": "varying_rank",
    "dtype": "varying_dtype",
    "type": "varying_structure",
    "structure": "varying_structure",
    "keyword": "varying_structure",
    "object": "object_identity",
    "context": "context",
    "alias": "other",
    "unknown": "other",
    "failed": "failing",
}


@dataclasses.dataclass(frozen=True)
class Judged:
    """A trace with what the analysis decided about it. ``blame`` says why it could have been avoided."""

    record: TraceRecord
    number: int
    kind: Kind
    step: int
    cause: list[Difference]
    closest: int | None
    reason: str = ""
    blame: Blame = ""

    @property
    def lost_ns(self) -> int:
        return self.record.end_ns - self.record.begin_ns


@dataclasses.dataclass(frozen=True)
class Group:
    """All traces of one definition, in order of beginning."""

    traces: tuple[Judged, ...]

    @property
    def first(self) -> TraceRecord:
        return self.traces[0].record

    @property
    def earlier(self) -> int:
        """How many traces the function held before we watched."""
        return self.first.cached


def group(records: Iterable[TraceRecord], steps: StepTable) -> list[Group]:
    """Sort the records by definition and judge each trace."""
    ordered = sorted(records, key=lambda record: (record.begin_ns, record.id))
    definitions: dict[tuple[object, ...], list[TraceRecord]] = {}
    for record in ordered:
        key = (record.file, record.line, record.code, record.function, record.owner)
        definitions.setdefault(key, []).append(record)
    groups = [_judge(traces, steps) for traces in definitions.values()]
    blamed = {trace.record.id for found in groups for trace in found.traces if trace.blame}
    outer = {record.id: record.outer_id for record in ordered}
    return [_without_consequences(found, blamed, outer) for found in groups]


def _judge(records: list[TraceRecord], steps: StepTable) -> Group:
    numbers = {record.id: number for number, record in enumerate(records, 1)}
    traces: list[Judged] = []
    objects: set[int | None] = set()
    for number, record in enumerate(records, 1):
        step = steps.number_at(record.begin_ns) if steps.steps else record.step
        kind, reason = _kind(record, objects)
        cause = list(record.differences)
        if record.failed_before and not record.differences and kind == "retrace":
            failed = next((r.error for r in reversed(records[: number - 1]) if r.error), None) or "an exception"
            cause = [Difference("context.failed_trace", f"failed with {failed}", "traced again", "failed")]
        elif record.function_object not in objects and objects and not record.cached:
            words = f"{record.instance_of} instance" if record.instance_of else "Function object"
            seen = len(objects)
            cause = [Difference("function object", f"{words} #{seen}", f"{words} #{seen + 1}", "function_object")]
        elif kind == "variable_creation":
            cause = []
        closest = numbers.get(record.closest) if record.closest is not None else None
        traces.append(Judged(record, number, kind, step, cause, closest, reason))
        objects.add(record.function_object)
    found = _blame(traces, bool(steps.steps))
    return Group(tuple(dataclasses.replace(t, blame=found.get(t.number, "")) for t in traces))


def _kind(record: TraceRecord, objects: set[int | None]) -> tuple[Kind, str]:
    """The kind of a trace, and why it is expected if it is. ``objects``: whose traces came before, by definition."""
    if record.exporting:
        return "expected", "traced for an export"
    if not objects and not record.cached:
        return "first", ""
    if record.owner == "tf.data":
        return "expected", "tf.data traces a function for each map, filter and the like"
    if record.owner == "tensorflow":
        return "expected", "TensorFlow's own function"
    if record.scope_only:
        return "variable_creation", ""
    if not record.cached and record.function_object not in objects:
        if record.owner == "keras":
            return "expected", "Keras makes a new function for each model, compile or layer"
        return "new_function_object", ""
    if _only(record, "context.replica_device"):
        return "expected", "a nested function is traced once for each replica's device"
    if _only(record, "context.saved_model"):
        return "expected", "traced for an export"
    return "retrace", ""


def _only(record: TraceRecord, path: str) -> bool:
    return bool(record.differences) and all(difference.path == path for difference in record.differences)


def _blame(traces: Sequence[Judged], has_steps: bool) -> dict[int, Blame]:
    """Which traces could have been avoided, and why, by their numbers."""
    blamed: dict[int, Blame] = {}
    first = traces[0]
    if first.record.owner == "tf.data":
        if first.record.library:  # Keras' own pipelines: one for each fit, evaluate and predict
            return blamed
        again = [t for t in traces[1:] if t.kind == "expected" and not t.record.exporting]
        for trace in _spread(again, first, has_steps):
            blamed[trace.number] = "pipeline_rebuilt"
        return blamed
    failing = [t for t in traces if t.record.error is not None]
    for trace in failing[1:]:
        blamed[trace.number] = "failing"
    made = [t for t in traces if t.kind == "new_function_object" and t.number not in blamed]
    for trace in _spread(made, first, has_steps):
        blamed[trace.number] = "per_instance" if trace.record.instance_of else "made_in_loop"
    retraces = [t for t in traces if t.kind == "retrace" and t.number not in blamed]
    by_cause: dict[tuple[Blame, str], list[Judged]] = {}
    for trace in retraces:
        main = main_difference(trace.cause)
        if main is None or main.way == "failed":  # it failed before and now went well
            continue
        blame = _shape_blame(retraces) if main.way == "shape" else _BLAME_OF.get(main.way, "other")
        # Each Python value is judged by itself: one of them may be a mode and another a counter.
        by_cause.setdefault((blame, main.path if blame == "python_value" else ""), []).append(trace)
    for (blame, _), group_of_cause in by_cause.items():
        # One trace with the sizes left open is how reduce_retracing (and so Keras) is meant to work.
        settled = len(group_of_cause) == 1 and bool(group_of_cause[0].record.generalized)
        if not settled and not _is_choice(blame, group_of_cause, first, has_steps):
            for trace in group_of_cause:
                blamed[trace.number] = blame
    return blamed


def _spread(traces: list[Judged], first: Judged, has_steps: bool) -> list[Judged]:
    """Those that come from code that runs repeatedly: in a later step than the first, or again from one line.

    Two models with a train step each, or ten layers with a compiled method, are made once: not a fault.
    """
    if has_steps and any(trace.step > 0 for trace in traces):
        return [trace for trace in traces if trace.step > max(first.step, 1)]
    again: list[Judged] = []
    seen = Counter([(first.record.call_site, first.record.instance_of)])
    for trace in traces:
        place = (trace.record.call_site, trace.record.instance_of)
        if seen[place]:
            again.append(trace)
        seen[place] += 1
    # Instances in a list, each called from one line of a loop over them, are still made once.
    lower = 4 if first.record.instance_of else 2
    return again if len(again) >= lower else []


def _is_choice(blame: Blame, traces: list[Judged], first: Judged, has_steps: bool) -> bool:
    """Whether the traces are one for each of a few modes (``training=True``), which is what tracing is for."""
    mains = [main for trace in traces if (main := main_difference(trace.cause)) is not None]
    if blame == "python_value":
        words = {text for main in mains for text in (main.before, main.after)}
        modes = all(text in ("True", "False", "None") or text[:1] in "'\"<" for text in words)
        return modes and len(words) <= _MODES
    if blame == "object_identity":
        return not _spread(traces, first, has_steps)
    if blame == "varying_structure":
        return len(traces) < 2 and any(text in ("None", "absent") for m in mains for text in (m.before, m.after))
    return False


def _shape_blame(traces: Sequence[Judged]) -> Blame:
    axes = {
        axis
        for trace in traces
        for difference in trace.cause
        if difference.way == "shape"
        for axis in changed_dimensions(difference)
    }
    return "varying_batch" if axes <= {0} else "varying_length"


def _without_consequences(found: Group, blamed: set[int], outer: dict[int, int | None]) -> Group:
    """Leave out traces inside an avoidable one, which are its consequence: its time is in the outer one's and must not
    count twice."""
    traces = []
    for trace in found.traces:
        enclosing = outer.get(trace.record.id)
        while enclosing is not None and enclosing not in blamed:
            enclosing = outer.get(enclosing)
        if enclosing is not None and trace.blame:
            trace = dataclasses.replace(trace, blame="", reason="part of a trace that could have been avoided")
        traces.append(trace)
    return Group(tuple(traces))


def slot(difference: Difference) -> str:
    """Show the varying part in a few characters: ``x.shape[0]``, ``flag``."""
    axes = changed_dimensions(difference) if difference.way == "shape" else []
    if axes:
        return ", ".join(f"{difference.path}.shape[{axis}]" for axis in axes)
    return difference.path + {"dtype": ".dtype", "rank": ".shape"}.get(difference.way, "")


def pattern(found: Group) -> str:
    """Describe the common pattern of most retraces: ``6 of 7 traces differ only in x.shape[0] ∈ {32, 17, 9}``; or
    nothing.
    """
    retraces = [
        t
        for t in found.traces
        if t.kind == "retrace" and t.cause and t.cause[0].way not in ("context", "failed", "unknown")
    ]
    if not retraces:
        return ""
    slots = Counter(tuple(slot(d) for d in t.cause) for t in retraces)
    common, count = slots.most_common(1)[0]
    if count < 2:
        return ""
    values: list[dict[str, None]] = [{} for _ in common]  # dicts keep the order in which they were seen
    for trace in retraces:
        if tuple(slot(d) for d in trace.cause) == common:
            for found_values, difference in zip(values, trace.cause, strict=True):
                found_values.update(dict.fromkeys(_values(difference)))
    shown = list(values[0]) if all(list(other) == list(values[0]) for other in values) else []
    listed = ", ".join(shown[:6]) + (f", … ({len(shown)} different)" if len(shown) > 6 else "")
    total = sum(t.kind in ("first", "retrace") for t in found.traces) + found.earlier
    names = " and ".join(common[:3]) + (f" and {len(common) - 3} more" if len(common) > 3 else "")
    among = f" ∈ {{{listed}}}" if shown else ""
    return f"{count} of {total} traces differ only in {names}{among}"


def _values(difference: Difference) -> list[str]:
    if difference.way == "shape":
        before, after = sizes(difference.before) or [], sizes(difference.after) or []
        pairs = [(old, new) for old, new in zip(before, after, strict=False) if old != new]
        return list(pairs[0]) if len(pairs) == 1 else [f"[{','.join(before)}]", f"[{','.join(after)}]"]
    if difference.way == "object":
        return []
    if difference.way == "dtype":
        return [text.partition("[")[0] for text in (difference.before, difference.after)]
    return [difference.before, difference.after]


def traced_function(found: Group) -> TracedFunction:
    """Return the group in the form of the report's data."""
    first = found.first
    avoidable = [trace for trace in found.traces if trace.blame]
    return TracedFunction(
        function=first.function,
        file=first.file,
        line=first.line,
        owner=first.owner,
        qualname=first.qualname,
        function_objects=len({trace.record.function_object for trace in found.traces}),
        retraces=sum(trace.kind == "retrace" for trace in found.traces),
        avoidable=len(avoidable),
        avoidable_ms=ms(sum(trace.lost_ns for trace in avoidable)),
        pattern=pattern(found),
        earlier=found.earlier,
        instance_of=first.instance_of,
        nested=first.nested,
        jit_compile=first.jit_compile,
        traces=[_trace(trace) for trace in found.traces],
    )


def _trace(trace: Judged) -> Trace:
    record = trace.record
    arguments = [a for a in record.arguments if a.kind != "container"]
    signature = ", ".join(f"{a.path}: {a.text}" for a in arguments[:8]) + (", …" if len(arguments) > 8 else "")
    return Trace(
        number=trace.number,
        kind=trace.kind,
        step=trace.step,
        ms=ms(trace.lost_ns),
        self_ms=ms(record.self_ns),
        cause=trace.cause,
        call_site=record.call_site,
        closest=trace.closest,
        reason=trace.reason,
        avoidable=bool(trace.blame),
        error=record.error,
        generalized=record.generalized,
        function_object=record.function_object,
        signature=signature,
        blame=trace.blame,
        arguments=record.arguments if trace.blame else [],
    )
