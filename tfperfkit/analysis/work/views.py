"""The evidence once more for each work of a run outside of training steps, as if its iterations were the steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from tfperfkit.analysis.step_account import Facts, account
from tfperfkit.analysis.work.busy import Busy, busy
from tfperfkit.analysis.work.iterations import iterations, went_on
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import Work
from tfperfkit.offers import ComputedStretch, GraphWaits, StepBreakdown
from tfperfkit.records.events import window_spans
from tfperfkit.records.samples import MIN, SampleLog, Samples, precise_spans
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import MarkerKind, Site, StepTable
from tfperfkit.rule import Evidence

#: The time between two steps that are closer than this belongs to training (``StepAccount.between_ms``).
_TRAINING_GAP_NS = 500_000_000
_NO_SPANS = Spans()
#: Kinds of markers that a step may consist of.
_TRAINS: tuple[MarkerKind, ...] = ("batch", "train_on_batch", "call", "loop_call", "apply", "named")


def views(
    evidence: Evidence,
    events: Sequence[dict[str, Any]],
    sources: Mapping[str, tuple[str, ...]],
    total_ns: int,
    ours: Spans = _NO_SPANS,
    described: Spans = _NO_SPANS,
) -> list[Evidence]:
    """One for each work that takes a tenth of the run, the longest first; ``Evidence.work`` says which. ``ours``: when
    the script waited for us, whatever line it stood at; ``described``: when it did because a function was traced."""
    if total_ns <= 0:
        return []
    found = busy(evidence.log, Spans([*training(evidence.steps), *ours]), sources, total_ns)
    sites = evidence.sites()
    cut = evidence.run.status != "finished"
    found = [
        item
        for item in found
        if not _is_cut_iteration(item, evidence.steps) and not (cut and _is_cut_call(item, evidence.steps, sites))
    ]
    if not found:
        return []
    markers, windows = list(evidence.markers()), window_spans(events)
    precise = Spans(precise_spans(events))
    made = []
    for item in found:
        table = iterations(item._replace(spans=_join_over(item.spans, described)), sites, markers, windows)
        made.append(_view(evidence, item, table, windows, precise, total_ns))
    return made


def _join_over(spans: Spans, described: Spans) -> Spans:
    """Join stretches between which only traces were described: an iteration goes on behind its trace. Otherwise it
    would end there, and of work without iterations the stretch with the trace might be left out (``_steady``)."""
    own = spans[:]
    gaps = [(end, begin) for (_, end), (begin, _) in pairwise(own)]
    return Spans([*own, *(gap for gap in gaps if 2 * described.overlap(*gap) >= gap[1] - gap[0])])


def _is_cut_iteration(item: Busy, steps: StepTable) -> bool:
    """Return whether this is at most two iterations of the training loop itself.

    These are what lies before the first update, and the iteration that an interruption cut. More is work that the loop
    does without training.
    """
    longest = max((step.end_ns - step.begin_ns for step in steps.steps), default=0)
    return steps.loop is not None and steps.loop in item.loops and item.ns <= 2 * longest


def _is_cut_call(item: Busy, steps: StepTable, sites: Sequence[Site]) -> bool:
    """Return whether this is the end of a call that trains, as ``fit`` does, in a run that was cut in it: no more than
    two steps' time behind the last one."""
    if item.kind != "call" or not steps.steps:
        return False
    ways = {place for site in sites if site.kind in _TRAINS for place in site.chain}
    longest = max(step.end_ns - step.begin_ns for step in steps.steps)
    behind = all(begin >= steps.steps[-1].begin_ns for begin, _ in item.spans)
    return behind and (item.where.file, item.where.line) in ways and item.ns <= 2 * longest


def training(steps: StepTable) -> Spans:
    """When the script trained: its steps with the short gaps between them."""
    spans: list[tuple[int, int]] = []
    for step in steps.steps:
        if spans and step.begin_ns - spans[-1][1] < _TRAINING_GAP_NS:
            spans[-1] = spans[-1][0], max(step.end_ns, spans[-1][1])
        else:
            spans.append((step.begin_ns, step.end_ns))
    return Spans(spans)


def holds_steps(maker: str, windows: Sequence[tuple[int, int, str]], training: StepTable) -> bool:
    """Return whether a window of this probe's lies over training steps: its breakdown is of these alone then, and tells
    nothing of what lies between them, as most of a work does that trains in each of its iterations."""
    trained = Spans((step.begin_ns, step.end_ns) for step in training.steps)
    return any(name == maker and trained.overlap(begin, end) > 0 for begin, end, name in windows)


def _view(
    evidence: Evidence,
    item: Busy,
    steps: StepTable,
    windows: Sequence[tuple[int, int, str]],
    precise: Spans,
    total_ns: int,
) -> Evidence:
    clean = [(step.begin_ns, step.end_ns) for step in steps.clean]
    log = evidence.log.within(item.spans)
    samples = _steady(log, clean or list(item.spans), precise)
    breakdown, maker = evidence.offer(StepBreakdown), evidence.offered_by(StepBreakdown)
    inside = {name for begin, end, name in windows if item.spans.overlap(begin, end) * 2 > end - begin}
    traced = maker in inside and not holds_steps(maker, windows, evidence.steps)
    waits, waits_by = evidence.offer(GraphWaits), evidence.offered_by(GraphWaits)
    stretch = evidence.offer(ComputedStretch)
    made = account(
        Facts(
            steps=steps,
            log=log,
            steady=samples,
            tracing=evidence.tracing,
            collections=evidence.collections,
            trace_ms=breakdown.parts_ms if breakdown is not None and traced else None,
            traced_by=maker or waits_by,
            waits=waits.share if waits is not None and waits_by in inside else 0.0,
        )
    )
    counted = steps.count > 1  # else all of it is one
    work = Work(
        kind=item.kind,
        where=item.where,
        seconds=item.ns / NS_PER_S,
        share_of_run=min(item.ns / total_ns, 1.0),
        iterations=steps.count if counted else None,
        iterations_went_on=counted and went_on(item, steps),
        definition=steps.definition,
        spent_s=_spent(log, item),
    )
    return evidence.narrowed(
        work=work,
        steps=steps,
        account=made,
        samples=samples,
        log=log,
        traced=stretch if stretch is not None and stretch.window in inside else None,
    )


def _spent(log: SampleLog, item: Busy) -> dict[str, float]:
    """Seconds of all of a work by what was sampled, the largest first."""
    kinds: Counter[str] = Counter()
    for stack, weight in log.weighted(item.spans):
        kinds[stack.context or stack.activity or "other"] += weight
    return {kind: item.ns / NS_PER_S * weight / kinds.total() for kind, weight in kinds.most_common()}


def _steady(log: SampleLog, spans: Sequence[Span], precise: Spans) -> Samples:
    """Samples of these spans; of the time when they were precise alone, if those are enough to tell anything."""
    samples = log.samples([span for span in spans if precise.overlap(*span) == span[1] - span[0]])
    return samples if samples.count >= MIN else log.samples(list(spans))
