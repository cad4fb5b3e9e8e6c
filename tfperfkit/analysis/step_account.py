"""Account of the steady steps' time, every millisecond counted once; and of the warm-up's time.

The mean clean step is split in two: the ordinary step (outliers left out), whose parts have the proportions that the
trace and the stack samples measured, and what the outliers took beyond it, each by its cause. So the parts add up to
the mean step, and a fault that comes in bursts is counted although the median step never sees it.
"""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from tfperfkit import calibration
from tfperfkit.clock import ms
from tfperfkit.model import Outlier, StepAccount
from tfperfkit.records.epoch_starts import Late, epoch_starts
from tfperfkit.records.parts import PARTS, Cause, PartName, cause_of, part_of, part_of_cause
from tfperfkit.records.samples import MIN, SampleLog, Samples, Stack
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Step, StepTable

#: An outlier: a modified z-score above this ...
OUTLIER_Z = calibration.OUTLIER_Z.value
#: ... that is also longer than the median by this share and this much.
OUTLIER_SHARE, OUTLIER_NS = calibration.OUTLIER_SHARE.value, calibration.OUTLIER_NS.value
EXPLAINS, ALONE = calibration.EXPLAINS_OUTLIER.value, calibration.EXPLAINS_ALONE.value
_FEW = calibration.OUTLIER_SAMPLES.value
#: The training thread's Python in the trace: the samples split it.
_PYTHON: tuple[PartName, ...] = ("python", "dispatch", "host_sync", "saving")
#: Activities that a step does regularly or not at all.
_RARE = ("saving", "summary")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts from which the account is made. Spans are ns of ``clock.now_ns``, on the training thread.

    ``trace_ms``: the parts of a traced step, and ``traced_by`` the probe that offers them. ``moved``: of the time in
    compiled functions, the shares that copies and collectives have, by the trace. ``waits``: of that time, the share
    that is waiting for data, by a trace without a whole step. ``longer_wait_share``: that share of what makes one
    traced step longer than another, None if it is not known. ``busy``: accelerator -> the share of the step it worked.
    """

    steps: StepTable
    log: SampleLog
    steady: Samples
    tracing: Spans
    collections: Spans  # of garbage
    trace_ms: Mapping[str, float] | None = None
    traced_by: str = ""
    busy: Mapping[str, float] = dataclasses.field(default_factory=dict)
    moved: Mapping[PartName, float] = dataclasses.field(default_factory=dict)
    waits: float = 0.0
    longer_wait_share: float | None = None
    feeds: bool = False  # a pipeline is known to feed the steps, whose compiled function may fetch from it
    sampled: bool = True  # False: samples were lost, and what is left of them tells no shares


CauseFound = Cause | Literal[""]
Parts = dict[PartName, float]  # ms


def account(facts: Facts) -> StepAccount | None:
    """Return the account of the steady phase; None without a clean step."""
    clean = facts.steps.clean
    if not clean:
        return None
    outliers, ordinary = _split(clean)
    count = sum(step.count for step in clean)
    mean_ms = ms(sum(step.end_ns - step.begin_ns for step in clean)) / count
    typical_ms = ms(sum(step.end_ns - step.begin_ns for step in ordinary)) / sum(step.count for step in ordinary)
    explained = _judge_together(outliers, [_explain(step, typical_ms, facts) for step in outliers], typical_ms, facts)
    explained, waited_ms = _fetching(explained, clean, facts) if facts.feeds else (explained, 0.0)
    parts, windows = _ordinary(facts, ordinary, typical_ms)
    if parts:
        for step, outlier in zip(outliers, explained, strict=True):
            for part, excess in _spread(step, outlier, facts).items():
                parts[part] += excess / count
        parts = _to_sum(parts, mean_ms)
    between, gaps_ms = _time_between_steps(facts, count)
    return StepAccount(
        steps=count,
        mean_ms=mean_ms,
        ordinary_ms=typical_ms,
        parts_ms=parts,
        windows=windows,
        outliers=explained,
        between_ms=between,
        between_total_ms=gaps_ms,
        input_in_graph_ms=min(waited_ms / count, parts.get("input", 0.0)),
        idle_ms={device: (1 - min(share, 1.0)) * mean_ms for device, share in facts.busy.items()},
    )


#: Causes whose time was measured, without samples.
_MEASURED: tuple[Cause, ...] = ("tracing", "first run of a new trace", "garbage collection", "input")


def _split(clean: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Return the outliers among the steps, and the others."""
    durations = [step.duration_ns for step in clean]
    median = statistics.median(durations)
    spread = statistics.median(abs(value - median) for value in durations)
    limit = max(
        median + OUTLIER_Z * spread / calibration.OUTLIER_SCALE.value, median * (1 + OUTLIER_SHARE), median + OUTLIER_NS
    )
    outliers = [step for step in clean if step.duration_ns > limit]
    one = sum(step.count for step in clean) == 1  # stretches of one step can't be compared
    if one or len(clean) < calibration.OUTLIER_STEPS.value or 2 * len(outliers) >= len(clean):
        return [], list(clean)
    far = set(map(id, outliers))
    return outliers, [step for step in clean if id(step) not in far]


def _explain(step: Step, typical_ms: float, facts: Facts) -> Outlier:
    excess = ms(step.end_ns - step.begin_ns) - typical_ms * step.count
    span = (step.begin_ns, step.end_ns)
    traced = ms(facts.tracing.overlap(*span))
    collected = ms(facts.collections.overlap(*span))
    waited = ms(step.input_ns) if step.input_ns else 0.0
    cause: CauseFound = ""
    found = 0.0
    if traced >= EXPLAINS * excess:
        cause, found = "tracing", traced
    elif traced > 0 and (compiled := _first_run(span, typical_ms, facts)) >= EXPLAINS * excess - traced:
        cause, found = "first run of a new trace", traced + compiled
    elif collected >= EXPLAINS * excess:
        cause, found = "garbage collection", collected
    elif waited >= EXPLAINS * excess:
        cause, found = "input", waited
    else:
        cause, found = _sampled_cause([span], typical_ms * step.count, excess, facts)
    return Outlier(
        step=step.number, ms=ms(step.end_ns - step.begin_ns), excess_ms=excess, cause=cause, found_ms=min(found, excess)
    )


def _judge_together(
    steps: Sequence[Step], outliers: Sequence[Outlier], typical_ms: float, facts: Facts
) -> tuple[Outlier, ...]:
    """Outliers with a sample or two, too few for a cause of their own, are judged as one with all others that samples
    explain: those with few of them are the ones in which they fell early or late. The cause is given of those that saw
    it; of the others nothing."""
    pool = [index for index, outlier in enumerate(outliers) if outlier.cause not in _MEASURED]
    spans = [(steps[index].begin_ns, steps[index].end_ns) for index in pool]
    usual_ms = typical_ms * sum(steps[index].count for index in pool)
    excess = sum(outliers[index].excess_ms for index in pool)
    cause, found = _sampled_cause(spans, usual_ms, excess, facts)
    result = list(outliers)
    for index, span in zip(pool, spans, strict=True) if cause else ():
        saw = [_cause_of(stack) for _, stack in facts.log.inside([span])] if not outliers[index].cause else []
        if cause in saw and len(saw) < _FEW:
            part = outliers[index].excess_ms * min(found / excess, 1.0)
            result[index] = msgspec.structs.replace(outliers[index], cause=cause, found_ms=part)
    return tuple(result)


def _waits_vary(facts: Facts) -> bool:
    """Return whether waiting for input in the compiled function is the larger half of what makes steps longer."""
    return facts.feeds and facts.longer_wait_share is not None and 2 * facts.longer_wait_share > 1


def _fetching(outliers: tuple[Outlier, ...], clean: Sequence[Step], facts: Facts) -> tuple[tuple[Outlier, ...], float]:
    """Return the outliers, and of them the ms of waiting for input that no other sign shows.

    If ``fit`` runs, its compiled function fetches the batch. So outliers at beginnings of epochs are waits for
    input. So are others in a compiled function if waiting makes traced steps longer: the same function computes the
    same in each step.
    """
    found = epoch_starts(
        [Late(item.step, item.excess_ms, item.cause) for item in outliers],
        {step.number for step in clean},
        any(step.input_ns for step in clean),
    )
    first = {item.step for item in found.late if item.cause != "input"} if found is not None else set()
    share = facts.longer_wait_share if _waits_vary(facts) and facts.longer_wait_share is not None else 0.0
    changed: list[Outlier] = []
    waited_ms = 0.0
    for item in outliers:
        if item.step in first or (share and item.cause == "a compiled function"):
            taken = item.found_ms if item.cause else item.excess_ms
            taken *= 1.0 if item.step in first else share
            waited_ms += taken
            item = msgspec.structs.replace(item, cause="input", found_ms=taken)
        changed.append(item)
    return tuple(changed), waited_ms


def _cause_of(stack: Stack) -> CauseFound:
    return "predict and validation" if stack.context == "evaluate" else cause_of(stack.activity)


def _first_run(span: Span, typical_ms: float, facts: Facts) -> float:
    """ms in compiled functions beyond the ordinary: after a trace, they are optimised at their first run. Predicting
    and evaluating in between are no such thing, however often they trace. Without samples nothing speaks against it."""
    samples = facts.log.samples([span])
    if samples.count < _FEW:
        return ms(span[1] - span[0]) - typical_ms
    if samples.contexts["evaluate"] > 0.5 * samples.count:
        return -math.inf
    usual = facts.steady.activity_share("graph") * typical_ms
    return max(0.0, samples.activity_share("graph") * ms(span[1] - span[0]) - usual)


def _spread(step: Step, outlier: Outlier, facts: Facts) -> Parts:
    """Return the parts to which an outlier's excess (ms) belongs: its cause's, and those of what else ran if that is
    much."""
    part = part_of_cause(outlier.cause)
    rest = outlier.excess_ms - outlier.found_ms
    samples = facts.log.samples([(step.begin_ns, step.end_ns)])
    others = {
        name: samples.activities[name]
        for name in PARTS
        if samples.activities[name] and part_of_cause(cause_of(name)) != part and (name != "graph" or part != "tracing")
    }
    if not outlier.cause or outlier.found_ms >= ALONE * outlier.excess_ms or not others:
        return {part: outlier.excess_ms}
    if samples.count < _FEW:
        return {part: outlier.found_ms, "other": rest}
    spread = {name: rest * count / sum(others.values()) for name, count in others.items()}
    spread[part] = spread.get(part, 0.0) + outlier.found_ms
    return spread


def _sampled_cause(spans: Sequence[Span], usual_ms: float, excess: float, facts: Facts) -> tuple[CauseFound, float]:
    """Return the activity that samples inside outliers have more often than ordinary steps, if there are enough
    samples.

    ``usual_ms``: what so many ordinary steps take.
    """
    samples = facts.log.samples(spans)
    if samples.count < _FEW:
        return "", 0.0
    whole = ms(sum(end - begin for begin, end in spans))
    if samples.contexts["evaluate"] > 0.5 * samples.count:
        return "predict and validation", excess
    usual = {name: facts.steady.activity_share(name) * usual_ms for name in samples.activities}
    more = {name: samples.activity_share(name) * whole - usual[name] for name in samples.activities}
    name = max(more, key=lambda key: more[key])
    if more[name] < EXPLAINS * excess:
        return "", 0.0
    return cause_of(name), more[name]


def _ordinary(facts: Facts, ordinary: Sequence[Step], typical_ms: float) -> tuple[Parts, tuple[str, ...]]:
    """Return the parts (ms) of the ordinary step and the windows that they come from; empty when neither gives any.

    The trace alone does not know whose Python ran: where samples were lost, a part that only they can tell would be
    charged to another."""
    if not facts.sampled:
        return {}, ()
    sampled = {name: facts.steady.activity_share(name) for name in facts.steady.activities}
    for name in _RARE:
        if facts.steady.activities.get(name, 0) < _FEW:  # one stray sample does not count for the step
            sampled.pop(name, None)
    enough = facts.steady.count >= MIN and "" not in sampled
    parts = dict.fromkeys(PARTS, 0.0)
    if facts.trace_ms and sum(facts.trace_ms.values()) > 0:
        traced = dict(facts.trace_ms)
        if _waits_vary(facts):  # the rest takes as long in each step
            traced["input"] = max(typical_ms - sum(traced.values()) + traced.get("input", 0.0), 0.0)
        whole = sum(traced.values())
        for name, value in traced.items():
            parts[part_of(name) or "other"] += value / whole * typical_ms
        windows: tuple[str, ...] = (facts.traced_by,)
        if enough:
            _split_python(parts, sampled, typical_ms)
            windows = (facts.traced_by, "samples")
    elif enough:
        for name, share in sampled.items():
            parts[part_of(name) or "other"] += share * typical_ms
        windows = ("samples",)
    else:
        return {}, ()
    collected = ms(sum(facts.collections.overlap(s.begin_ns, s.end_ns) for s in ordinary))
    collected /= sum(step.count for step in ordinary)
    _take(parts, "gc", collected, ("python", "dispatch", "other"))
    if windows == ("samples",) and parts["gc"] < collected:
        # A collection lets nobody sample: without a trace, its time has been given to all else by proportion.
        _take(parts, "gc", collected - parts["gc"], [name for name in PARTS if name != "gc"])
    for name, share in facts.moved.items():
        _take(parts, name, parts["graph"] * share, ("graph",))
    fetched = ms(sum(step.input_ns for step in ordinary)) / sum(step.count for step in ordinary)
    if fetched > parts["input"]:  # every fetch of the steady phase was timed: more than a window's worth
        _take(parts, "input", fetched - parts["input"], ("python", "dispatch", "other", "graph", "eager_ops"))
    for name, inside in facts.steady.evaluating.items() if enough else ():
        key = part_of(name) or "other"
        _take(parts, "evaluate", parts[key] * inside / facts.steady.activities[name], (key,))
    if facts.waits and not facts.trace_ms:
        _take(parts, "input", parts["graph"] * facts.waits, ("graph",))
        windows = (facts.traced_by, *windows)
    return _to_sum(parts, typical_ms), windows


def _split_python(parts: Parts, sampled: Mapping[str, float], whole_ms: float) -> None:
    """The trace knows one kind of Python only; the samples tell whose it is, and what reads values or saves.

    If TensorFlow's Python dispatches operations, samples fall into the operations, which release the interpreter's
    lock: so code outside of TensorFlow gets no more than its share of all samples, and TensorFlow gets the rest.
    """
    shares = {name: sampled.get(name, 0.0) for name in _PYTHON}
    shares["saving"] += sampled.get("summary", 0.0)
    # Between Python and the runtime the two disagree a little: Python's part of an operation's call.
    whole = sum(shares.values())
    python = parts["python"]
    if whole <= 0:
        return
    for name in _PYTHON:
        parts[name] = python * shares[name] / whole
        if name != "dispatch" and shares["dispatch"]:
            parts[name] = min(parts[name], shares[name] * whole_ms)
    parts["dispatch"] += max(0.0, python - sum(parts[name] for name in _PYTHON))


def _take(parts: Parts, name: PartName, wanted: float, givers: Sequence[PartName]) -> None:
    """Move up to ``wanted`` ms to ``name``, from each giver in proportion to what it has."""
    there = sum(parts[giver] for giver in givers)
    if there <= 0 or wanted <= 0:
        return
    moved = min(wanted, there)
    for giver in givers:
        parts[giver] -= moved * parts[giver] / there
    parts[name] += moved


def _to_sum(parts: Parts, whole: float) -> Parts:
    """Return the same proportions, adding up to ``whole``."""
    there = sum(parts.values())
    return {name: value / there * whole for name, value in parts.items()} if there > 0 else parts


def _time_between_steps(facts: Facts, count: int) -> tuple[dict[str, float], float]:
    """Return what ran between clean steps that follow each other, in ms for each step, and its sum."""
    clean = facts.steps.clean
    gaps = [
        (before.end_ns, after.begin_ns)
        for before, after in zip(clean, clean[1:], strict=False)
        if after.number == before.number + before.count and after.begin_ns > before.end_ns
    ]
    total = ms(sum(end - begin for begin, end in gaps)) / count
    kinds: Counter[str] = Counter()
    for stack, weight in facts.log.weighted([gap for gap in gaps if gap[1] - gap[0] > OUTLIER_NS]):
        kinds[stack.context or stack.activity or "other"] += weight
    if not kinds or total <= 0:
        return {}, total
    return {kind: total * weight / kinds.total() for kind, weight in kinds.items()}, total
