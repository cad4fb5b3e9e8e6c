"""Traces that could have been avoided, with their cause and their cost (RET001 to RET013).

tfperf sees each trace of each ``tf.function`` as it happens, and compares it with the closest cached trace. Lost is the
time of the trace and of the first run of its graph, which TensorFlow optimises then.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.retrace.model import Blame, RetraceData, Trace, TracedFunction

from tfperfkit import calibration, gain
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.clock import MS_PER_S, NS_PER_S, ms
from tfperfkit.model import Elsewhere, Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.records.samples import Place
from tfperfkit.records.steps import StepTable
from tfperfkit.remedy import Hoist, KeepTrace, Remedy
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_calls import find_methods, list_files
from tfperfkit_rules.retrace import advice, first_runs, typed, without
from tfperfkit_rules.retrace.advice import MAX_SIGNATURE
from tfperfkit_rules.retrace.cost import Time, lost_ns, pay_first
from tfperfkit_rules.retrace.words import make_detail, make_title


class _Cause(NamedTuple):
    """A cause of avoidable traces. ``title`` is the heading of the code's page."""

    code: str
    title: str
    remedy: Remedy


#: The causes, by what the probe ``retrace`` blames.
_CAUSES: dict[Blame, _Cause] = {
    "python_value": _Cause(
        code="RET001",
        title="tf.function retraced because a Python value changes",
        remedy=KeepTrace("number"),
    ),
    "varying_batch": _Cause(
        code="RET002",
        title="tf.function retraced because the batch size changes",
        remedy=KeepTrace("batch"),
    ),
    "varying_length": _Cause(
        code="RET003",
        title="tf.function retraced because an argument's shape changes",
        remedy=KeepTrace("length"),
    ),
    "varying_rank": _Cause(
        code="RET004",
        title="tf.function retraced because an argument's rank changes",
        remedy=KeepTrace("rank"),
    ),
    "varying_dtype": _Cause(
        code="RET005",
        title="tf.function retraced because an argument's dtype changes",
        remedy=KeepTrace("dtype"),
    ),
    "varying_structure": _Cause(
        code="RET006",
        title="tf.function retraced because an argument's structure changes",
        remedy=KeepTrace("structure"),
    ),
    "object_identity": _Cause(
        code="RET007",
        title="tf.function retraced because an argument is a new object",
        remedy=KeepTrace("object"),
    ),
    "made_in_loop": _Cause(
        code="RET008",
        title="tf.function created in a loop, so traced every time",
        remedy=KeepTrace("function"),
    ),
    "per_instance": _Cause(
        code="RET009",
        title="tf.function method traced again for each new instance",
        remedy=KeepTrace("instance"),
    ),
    "context": _Cause(
        code="RET010",
        title="tf.function retraced because its calling context changes",
        remedy=KeepTrace("context"),
    ),
    "failing": _Cause(
        code="RET011",
        title="tf.function trace fails and is retried every time",
        remedy=KeepTrace("failure"),
    ),
    "pipeline_rebuilt": _Cause(
        code="RET012",
        title="tf.data pipeline rebuilt, so its functions are traced again",
        remedy=Hoist("pipeline"),
    ),
    "other": _Cause(
        code="RET013",
        title="tf.function retraced because an argument changes",
        remedy=KeepTrace("other"),
    ),
}
TITLES = {cause.code: cause.title for cause in _CAUSES.values()}

NOTICEABLE = Threshold(
    calibration.SEVERITY_LOW.value,
    "share",
    "minimum share of the steps' time in a single retrace",
    Derived("the least share that is reported"),
)

#: Methods that make batches, of datasets and of what Keras reads from folders and arrays.
_BATCHING = ("batch", "padded_batch", "ragged_batch", "fit", "flow", "image_dataset_from_directory")
#: Causes that are reported even if they happen once.
_TOLD_ONCE: set[Blame] = {
    "python_value",
    "varying_batch",
    "varying_length",
    "varying_rank",
    "varying_dtype",
    "varying_structure",
    "context",
}
#: Causes whose change is at the call: what it gives, or where it is made.
_AT_CALL: set[Blame] = {
    "python_value",
    "varying_rank",
    "varying_dtype",
    "varying_structure",
    "object_identity",
    "pipeline_rebuilt",
    "context",
    "per_instance",
}


def avoidable_traces(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each function and cause that cost enough to be reported, the costliest first."""
    data = evidence.offer(RetraceData)
    if data is None or data.limits:
        return
    time = Time(evidence.steps, evidence.run.wall_s * NS_PER_S)
    lines = _tracing_lines(evidence) if evidence.work is not None else set[Place]()
    if evidence.work is not None:
        time = Time(StepTable(), evidence.work.seconds * NS_PER_S)
    found = []
    for function in data.functions:
        by_blame: dict[Blame, list[Trace]] = {}
        for trace in function.traces:
            if trace.blame and (evidence.work is None or _is_of(trace, lines)):
                by_blame.setdefault(trace.blame, []).append(trace)
        if evidence.work is not None and sum(map(lost_ns, function.traces)) > evidence.work.seconds * NS_PER_S:
            continue  # the training steps call it from the same line
        found += [_make_finding(evidence, blame, function, traces, time) for blame, traces in by_blame.items()]
    yield from sorted(filter(None, found), key=lambda finding: -finding.share_of_step)


def _make_finding(
    evidence: Evidence, blame: Blame, function: TracedFunction, traces: list[Trace], time: Time
) -> Finding | None:
    beside_steps = bool(time.steps.steps) and time.are_outside(traces)
    if beside_steps:  # no step paid for them
        time = Time(StepTable(), time.run_ns)
    share = time.share(traces)
    once = len(traces) == 1
    if once and (blame not in _TOLD_ONCE or share < NOTICEABLE.value or function.owner == "keras"):
        return None
    if blame == "pipeline_rebuilt" and share < NOTICEABLE.value:
        return None
    lost_ms = ms(sum(lost_ns(trace) for trace in traces))
    total = len(function.traces) + function.earlier
    fix = _fix(evidence, blame, function, traces)
    # ``reduce_retracing`` leaves a size open once it has seen two sizes, so the first retrace stays.
    saved = traces[1:] if fix.startswith(advice.REDUCED) and not once else traces
    after = total - len(saved)
    figures = [
        Measurement("avoidable retraces", len(traces), "count", "run"),
        Measurement("traces now", total, "count", "run"),
        Measurement("traces after the fix", after, "count", "run"),
        Measurement("time in avoidable retraces", lost_ms, "ms", "run"),
        Measurement("mean time per retrace", lost_ms / len(traces), "ms", "run"),
    ]
    median = time.median_step_ns
    if median:
        figures.append(Measurement("median step", ms(median), "ms", "baseline"))
        figures.append(Measurement("time in avoidable retraces, in median steps", lost_ms / ms(median), "count", "run"))
    costliest = max(traces, key=lost_ns)
    # A single retrace does not come back in later steps, so no gain of the steady step is known.
    gained = gain.Unknown() if once else _gain(evidence, time, function, saved, time.share(saved))
    paid: tuple[Elsewhere, ...] = ()
    if evidence.work is None and time.steps.steps:
        paid = pay_first(time.steps, gained, None if time.all_trace(traces) else saved)
    return Finding(
        code=_CAUSES[blame].code,
        remedy=_CAUSES[blame].remedy,
        title=make_title(blame, function, traces),
        severity="info" if share < (gain.MEDIUM if once else gain.LOW) or once and blame == "varying_batch" else "low",
        # The certain gain is lost time: the tracing and the first executions of the traced graphs.
        share_of_step=max(share, gained.surely) if gained.bounds else share,
        basis="run" if beside_steps else "step",
        gain=gained,
        elsewhere=paid,
        where=_where(evidence, blame, function, costliest),
        evidence=tuple(figures),
        advice=fix,
        # The same traces, seen as a part of the step, and as what they leave behind.
        absorbs=("RET014", "MEM002"),
        detail=make_detail(function, costliest, traces, after, median),
    )


def _fix(evidence: Evidence, blame: Blame, function: TracedFunction, traces: list[Trace]) -> str:
    """Say what to change: for a number the code to type, if the source shows it."""
    paths = sorted({found.path for trace in traces for found in trace.cause if found.way == "value"})
    if blame == "python_value" and function.owner == "user" and 0 < len(paths) <= MAX_SIGNATURE.value:
        typed_out = typed.advice(evidence, function, traces, paths)
        if typed_out is not None:
            return typed_out
    return advice.advise(blame, function, traces, _batches(evidence))


def _batches(evidence: Evidence) -> bool:
    """Whether a dataset may make batches: a method that does is called, or the sources are not there to tell."""
    return not any(list_files(evidence)) or bool(find_methods(evidence, *_BATCHING))


def _gain(evidence: Evidence, time: Time, function: TracedFunction, traces: list[Trace], share: float) -> gain.Gain:
    """Return the gain of a graph that is kept: of the run if it was traced between steps; unknown before the first
    step, for a longer run does not pay for that again."""
    work = evidence.work
    if work is None and not time.steps.steps:
        between = any(trace.step for trace in traces)
        return price(KeepTrace("other"), Part(share, share)) if between else gain.Unknown()
    if work is not None or time.all_trace(traces):
        first = first_runs.beyond(evidence, [((function.file, function.line, function.function), len(traces))])
        steps = (
            work.seconds * MS_PER_S / (evidence.step_ms or math.inf)
            if work is not None
            else float(len({trace.step for trace in traces}))
        )
        iterations = work.iterations if work is not None else None
        each = bool(iterations) and len(traces) >= shared.NEARLY_ALWAYS.value * (iterations or 0)
        mine = _traced(evidence, share, traces)
        one = len(traces) if work is not None else 0
        known = without.saved(evidence) or without.saved_with(evidence, mine, first, steps, each=each, of=one)
        return without.price_kept(evidence, known, share)
    return price(KeepTrace("other"), Part(share, time.share_with_first_runs(traces)))


def _traced(evidence: Evidence, share: float, traces: list[Trace]) -> float:
    """Return the share of an iteration in these traces. ``share`` is of the whole work, which also holds windows and
    code outside its iterations. The account of the iterations has all tracing; these traces are a part by their number,
    because the first trace of a function takes longest and comes before them."""
    data = evidence.offer(RetraceData)
    if data is None or evidence.work is None:
        return share
    lines = _tracing_lines(evidence)
    there = sum(_is_of(trace, lines) for function in data.functions for trace in function.traces)
    return max(share, min(len(traces) / max(there, 1), 1.0) * evidence.share("tracing"))


def _tracing_lines(evidence: Evidence) -> set[Place]:
    """The lines below which samples of a work saw functions being traced: the same line may train too."""
    log = evidence.log
    stacks = {id(stack): stack for _, stack in log.inside(log.whole) if stack.activity == "tracing"}
    return {(frame.file, frame.line) for stack in stacks.values() for frame in stack.frames}


def _is_of(trace: Trace, lines: set[Place]) -> bool:
    """Whether a line that called what was traced is one of these."""
    return trace.call_site is not None and (trace.call_site.file, trace.call_site.line) in lines


def _where(evidence: Evidence, blame: Blame, function: TracedFunction, costliest: Trace) -> tuple[SourceSpan, ...]:
    """The place to change first, then the others."""
    site = costliest.call_site
    places: list[SourceSpan | None] = [
        SourceSpan(function.file, function.line, function.function) if function.file else None
    ]
    if blame == "made_in_loop":
        making = advice.making_line(function, site, evidence.source(site.file) if site else ())
        places = [making, site, *places]
    elif function.owner == "keras" and site is not None:
        places = [site]  # Keras' own source is nothing to change
    elif blame in _AT_CALL:
        places = [site, *places]
    else:
        places.append(site)
    unique: list[SourceSpan] = []
    for place in places:
        if place is not None and place not in unique:
            unique.append(place)
    return tuple(unique)
