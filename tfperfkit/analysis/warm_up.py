"""The warm-up's own account: what passed between the start of the process and the first steady step."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tfperfkit.analysis.stored_run import beginning
from tfperfkit.model import WarmUp
from tfperfkit.records.parts import StartPart, start_part_of
from tfperfkit.records.samples import SampleLog
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Step, StepTable

_NS = 1e9
#: Fewer samples tell no shares.
_FEW = 5


def warm_up(
    steps: StepTable,
    log: SampleLog,
    agent: Mapping[str, Any],
    started_ns: int,
    tracing: Spans,
    ordinary_ms: float | None,
) -> WarmUp | None:
    """Return the account, or None when no step was found or the recording does not say when TensorFlow came."""
    begun = beginning(agent, started_ns)
    if not steps.steps or begun is None:
        return None
    first = steps.steps[0].begin_ns
    steady = next((step.begin_ns for step in steps.steps if step.window != "warmup"), steps.steps[-1].end_ns)
    importing = begun.importing if begun.importing is not None else begun.process
    parts: dict[StartPart, float] = defaultdict(float)
    parts["other imports"] = importing - begun.process
    parts["importing TensorFlow"] = begun.armed - importing
    _before_the_steps(parts, log, (begun.armed, first), tracing)
    warm = [step for step in steps.steps if step.window == "warmup"]
    traced = sum(tracing.overlap(step.begin_ns, step.end_ns) for step in warm)
    ordinary_ns = ordinary_ms * 1e6 if ordinary_ms is not None else quickest_ns(steps.steps, tracing)
    usual = sum(step.count for step in warm) * ordinary_ns
    parts["tracing"] += traced
    rest = max(0.0, steady - first - traced)
    parts["the steps themselves"] = min(rest, usual)
    beyond = rest - parts["the steps themselves"]
    parts["compile and first runs"] = min(beyond, rest * _compiled_share(log, (first, steady), tracing))
    parts["first steps"] = beyond - parts["compile and first runs"]
    found = {name: value / _NS for name, value in parts.items() if value > 0}
    return WarmUp(total_s=sum(found.values()), parts_s=found)


def _compiled_share(log: SampleLog, span: Span, tracing: Spans) -> float:
    """Return the share (0 to 1) of the first steps' time without tracing that compiled functions take, which are
    optimised and compiled as they run first.

    With too few samples it is 1 if anything was traced, else 0.
    """
    kinds: Counter[bool] = Counter()
    for stack, ns in log.weighted([span]):
        if stack.activity != "tracing":
            kinds[stack.activity == "graph" and stack.context != "evaluate"] += ns
    if len(log.inside([span])) < _FEW or not kinds:
        return 1.0 if tracing.until(span[1]) else 0.0
    return kinds[True] / kinds.total()


def quickest_ns(steps: Sequence[Step], tracing: Spans) -> float:
    """Return the time of a step if no clean step shows it: the quickest, without its tracing.

    For a single long step, the share of compiling is unknown; the time is taken for the step itself.
    """
    took = ((step.end_ns - step.begin_ns - tracing.overlap(step.begin_ns, step.end_ns)) / step.count for step in steps)
    return max(0.0, min(took, default=0.0))


def _before_the_steps(parts: dict[StartPart, float], log: SampleLog, span: Span, tracing: Spans) -> None:
    traced = tracing.overlap(*span)
    rest = max(span[1] - span[0] - traced, 0)
    parts["tracing"] += traced
    kinds = Counter(start_part_of(stack.activity, stack.context) for _, stack in log.inside([span]))
    kinds.pop("tracing", None)
    count = sum(kinds.values())
    if count < _FEW:
        parts["not sampled"] += rest
        return
    for kind, number in kinds.items():
        parts[kind] += rest * number / count
