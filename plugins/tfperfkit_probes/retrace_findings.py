"""From judged traces to findings: how much the avoidable ones cost, and the words around it."""

from __future__ import annotations

import dataclasses
import math
import os
import statistics
from collections.abc import Callable, Sequence

from tfperfkit.clock import NS_PER_S, ms
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.steps import StepTable
from tfperfkit_probes import retrace_advice as advice
from tfperfkit_probes import retrace_codes as codes
from tfperfkit_probes.retrace_analysis import Group, Judged, main_difference, pattern

#: A single retrace is only told when it took this share of the steps' time.
NOTICEABLE_SHARE = 0.02
#: A share beyond this says that the run was too short to tell, not that training gets 20 times as fast.
MAX_SHARE = 0.95
#: Where nearly every step traces nobody saw how short one is without: a script whose steps all traced gained 578 times.
MOST_SHARE = 0.99
#: So many steps without a trace tell what an ordinary one takes.
_ORDINARY = 3
#: What happens once is told for these causes; for the others once is how it should be.
_TOLD_ONCE = {
    codes.PYTHON_VALUE, codes.VARYING_BATCH, codes.VARYING_LENGTH, codes.VARYING_RANK, codes.VARYING_DTYPE,
    codes.VARYING_STRUCTURE, codes.CONTEXT,
}


@dataclasses.dataclass(frozen=True)
class Time:
    """What lost time is compared with."""

    steps: StepTable
    run_ns: float = 0.0

    @property
    def median_step_ns(self) -> float | None:
        """Of the clean steps; of all where none is marked so."""
        durations = [step.duration_ns for step in self.steps.clean or self.steps.steps]
        return statistics.median(durations) if durations else None

    def share(self, traces: Sequence[Judged]) -> float:
        """Time lost in these traces, over the steps' time without warm-up but with what was lost there; 0 to 1."""
        return self._share(traces, sum(trace.lost_ns for trace in traces))

    def share_with_first_runs(self, traces: Sequence[Judged]) -> float:
        """The same with what else made these steps longer than the others: Grappler, XLA, first runs. An upper bound:
        other things may have happened in them."""
        by_step: dict[int, float] = {}
        for trace in traces:
            by_step[trace.step] = by_step.get(trace.step, 0.0) + trace.lost_ns
        steps = {step.number: step for step in self.steps.steps if step.window != "warmup"}
        if not steps:
            return self.share(traces)
        others = [step.duration_ns for step in steps.values() if step.number not in by_step]
        if not others or (len(others) < _ORDINARY and 2 * len(others) <= len(steps)):
            return MOST_SHARE
        usual = statistics.median(others)
        excess = {
            number: steps[number].end_ns - steps[number].begin_ns - usual * steps[number].count
            for number in by_step if number in steps
        }
        return self._share(traces, sum(max(spent, excess.get(number, 0.0)) for number, spent in by_step.items()))

    def _share(self, traces: Sequence[Judged], lost: float) -> float:
        warmup = {step.number for step in self.steps.in_window("warmup")}
        steady = sum(step.end_ns - step.begin_ns for step in self.steps.steps if step.number not in warmup)
        if steady:
            total: float = steady + sum(trace.lost_ns for trace in traces if trace.step in warmup or trace.step == 0)
        else:
            total = sum(step.end_ns - step.begin_ns for step in self.steps.steps) or self.run_ns
        return min(MAX_SHARE, lost / total) if total else 0.0


def findings(groups: Sequence[Group], time: Time, source: Callable[[str], tuple[str, ...]]) -> list[Finding]:
    """One finding for each function and cause that cost enough to be told. ``source`` gives a file's lines."""
    found = []
    for group in groups:
        by_code: dict[str, list[Judged]] = {}
        for trace in group.traces:
            if trace.code:
                by_code.setdefault(trace.code, []).append(trace)
        for code, traces in by_code.items():
            finding = _finding(code, group, traces, time, source)
            if finding is not None:
                found.append(finding)
    return sorted(found, key=lambda finding: -finding.share_of_step)


def _finding(
    code: str, group: Group, traces: list[Judged], time: Time, source: Callable[[str], tuple[str, ...]]
) -> Finding | None:
    share = time.share(traces)
    once = len(traces) == 1
    if once and (code not in _TOLD_ONCE or share < NOTICEABLE_SHARE or group.first.owner == "keras"):
        return None
    if code == codes.PIPELINE_REBUILT and share < NOTICEABLE_SHARE:
        return None
    lost_ms = ms(sum(trace.lost_ns for trace in traces))
    total = len(group.traces) + group.earlier
    after = total - len(traces)
    evidence = [
        Measurement("retraces", len(traces), "count", "run"),
        Measurement("traces", total, "count", "run"),
        Measurement("traces_after_fix", after, "count", "run"),
        Measurement("lost_ms", lost_ms, "ms", "run"),
        Measurement("ms_per_retrace", lost_ms / len(traces), "ms", "run"),
    ]
    median = time.median_step_ns
    if median:
        evidence.append(Measurement("median_step_ms", ms(median), "ms", "baseline"))
        evidence.append(Measurement("steps_worth", lost_ms / ms(median), "count", "run"))
    costliest = max(traces, key=lambda trace: trace.lost_ns)
    fix = advice.remedy(code, group, traces)
    # What happened once does not come back with every step, so the steady step gains nothing that we know of.
    bounds = None if once or not time.steps.steps else (1 / (1 - share), 1 / (1 - time.share_with_first_runs(traces)))
    return Finding(
        code=code,
        family="retrace",
        title=_title(code, group, traces),
        severity=_severity(code, share, once, traces),
        share_of_step=share,
        predicted_speedup=math.sqrt(bounds[0] * bounds[1]) if bounds else None,
        predicted_range=bounds,
        where=_where(code, group, costliest, source),
        evidence=tuple(evidence),
        advice=fix[:1].upper() + fix[1:] + ".",
        absorbs=("RET014", "MEM002"),  # the same traces, seen as a part of the step, and as what they leave behind
        detail=_detail(group, costliest, traces, fix, after, median),
    )


def _severity(code: str, share: float, once: bool, traces: list[Judged]) -> Severity:
    if once:
        harmless = code == codes.VARYING_BATCH or share < 0.05
        return "info" if harmless else "low"
    return "high" if share >= 0.2 else "medium" if share >= 0.05 else "low" if share >= 0.02 else "info"


def _where(
    code: str, group: Group, costliest: Judged, source: Callable[[str], tuple[str, ...]]
) -> tuple[SourceSpan, ...]:
    """The place to change first, then the others."""
    record = group.first
    site = costliest.record.call_site
    places: list[SourceSpan | None] = [SourceSpan(record.file, record.line, record.function) if record.file else None]
    if code == codes.MADE_IN_LOOP:
        making = advice.making_line(costliest.record, source(site.file) if site else ())
        places = [making, site, *places]
    elif record.owner == "keras" and site is not None:
        places = [site]  # Keras' own source is nothing to change
    elif code in (codes.PIPELINE_REBUILT, codes.CONTEXT, codes.PER_INSTANCE):
        places = [site, *places] if site else places
    else:
        places.append(site)
    unique: list[SourceSpan] = []
    for place in places:
        if place is not None and place not in unique:
            unique.append(place)
    return tuple(unique)


def _title(code: str, group: Group, traces: list[Judged]) -> str:
    first, count, total = group.first, len(traces), len(group.traces) + group.earlier
    name = "Keras' compiled step" if first.owner == "keras" else first.function
    times = {1: "once", 2: "twice"}.get(count, f"{count} times")
    paths = {main.path for trace in traces if (main := main_difference(trace)) is not None}
    path = paths.pop() if len(paths) == 1 else "its arguments" if paths else ""
    if code == codes.MADE_IN_LOOP:
        return f"{name} is made into a new tf.function in a loop: traced {total} times"
    if code == codes.PER_INSTANCE:
        return f"{name} is traced for each new {first.instance_of}: {total} times"
    if code == codes.PIPELINE_REBUILT:
        return f"a tf.data pipeline with {name} is built anew: traced {total} times"
    if code == codes.FAILING:
        return f"tracing {name} fails and is tried again {times}"
    why = {
        codes.PYTHON_VALUE: f"the Python value of {path} changes",
        codes.VARYING_BATCH: f"the size of dim 0 of {path} changes",
        codes.VARYING_LENGTH: f"the shape of {path} changes",
        codes.VARYING_RANK: f"the rank of {path} changes",
        codes.VARYING_DTYPE: f"the dtype of {path} changes",
        codes.VARYING_STRUCTURE: f"the structure of {path} changes",
        codes.OBJECT_IDENTITY: f"{path} is another object",
        codes.CONTEXT: f"the {path.removeprefix('context.').replace('_', ' ')} changes",
    }.get(code, f"{path or 'an argument'} changes")
    if code == codes.VARYING_BATCH and advice.partial_batch(traces):
        why = f"a partial batch changes dim 0 of {path}"
    return f"{name} is traced again {times}: {why}"


def _detail(
    group: Group, trace: Judged, traces: list[Judged], fix: str, after: int, median: float | None
) -> str:
    first = group.first
    head = "TRACE" if trace.kind in ("new_function_object", "expected") else "RETRACE"
    worth = ""
    if median:
        steps = trace.lost_ns / median
        worth = f", worth {steps:.0f} steps" if steps >= 1.5 else ", worth a step" if steps >= 0.5 else ""
    step = f" at step {trace.step}" if trace.step else ""
    place = _place(first.function, first.file, first.line)
    lines = [f"{head} #{trace.number} of {place}{step} · {_time(trace.lost_ns)}{worth}"]
    if trace.record.call_site is not None:
        site = trace.record.call_site
        lines.append(f"  called from {_place(site.function, site.file, site.line)}")
    partial = advice.partial_batch(traces)
    closest = f"closest trace #{trace.closest}: " if trace.closest else "before: "
    for number, difference in enumerate(trace.cause[:4]):
        if difference.way == "failed":
            continue
        path = difference.path.removeprefix("context.").replace("_", " ") if difference.way == "context" else (
            difference.path
        )
        label = closest if number == 0 else " " * len(closest)
        said = advice.remark(difference, trace, partial)
        lines.append(f"  {label} {path}  {difference.before} → {difference.after}   {said}".rstrip())
    if len(trace.cause) > 4:
        more = len(trace.cause) - 4
        lines.append(f"  and {more} more difference{'s' * (more != 1)}")
    if trace.record.error:
        lines.append(f"  the trace failed with {trace.record.error}")
    common = pattern(group)
    if common:
        lines.append(f"  pattern: {common}")
    lines.append(f"  fix: {fix}; traces {after + len(traces)} → {after}")
    return "\n".join(lines)


def _place(function: str, file: str, line: int) -> str:
    name = "the module" if function == "<module>" else function
    return f"{name} ({os.path.basename(file)}:{line})" if file else name


def _time(lost_ns: int) -> str:
    if lost_ns >= NS_PER_S:
        return f"{lost_ns / NS_PER_S:.2f} s"
    return f"{ms(lost_ns):.0f} ms" if ms(lost_ns) >= 10 else f"{ms(lost_ns):.1f} ms"
