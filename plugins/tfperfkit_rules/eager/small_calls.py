"""EAG012, EAG013 and EAG004: ``session.run``, a compiled function, or ``predict_on_batch`` is called on inputs so small
that call overhead dominates.

Calls are timed one by one. The time that a function needs follows from its FLOPs and its bytes, at the speed of this
machine. The lower bound of the gain saves half of the overhead, the upper bound all of the calls' time.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tfperfkit_probes.ops.model import Brief, OpsData

from tfperfkit.calibration import UNKNOWN_PART, Chosen, Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import FunctionCosts
from tfperfkit.pricing import Part, costs, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Place
from tfperfkit.records.steps import MarkerKind
from tfperfkit.remedy import BatchLoop, BatchSize, Remedy, Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.called import (
    COMPILED,
    ON_BATCH,
    TRAINER,
    Api,
    count_frames_at,
    find_call,
    is_calling,
    name_callee,
)
from tfperfkit_rules.measures.making import MIN_MADE, making, own_frames
from tfperfkit_rules.measures.session_calls import SESSION, growing, made_in_loops
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_place import sites
from tfperfkit_rules.measures.step_shares import span

TITLES = {
    "EAG004": "Keras model called on tiny inputs, so overhead dominates",
    "EAG012": "session.run called on tiny inputs, so overhead dominates",
    "EAG013": "tf.function called on tiny inputs, so overhead dominates",
}

SEVERAL_CALLS = Threshold(
    2,
    "count",
    "minimum number of calls in a training step that could be one",
    Chosen("fewer can't be joined: a call per step may need the step before"),
)
SESSION_RUN_MS = Threshold(
    0.2,
    "ms",
    "minimum cost of a call of session.run in addition to its computation",
    Measured("0.33 ms for one row of 20 numbers, 0.7 ms for 2,500 of them at once", TWO_BUSY_CORES, 7),
)
MARKED_MIN = Threshold(
    0.9,
    "share",
    "minimum share of a call of a compiled function that its timing covers",
    Measured("0.93 to 0.99 of calls on eight numbers, median 0.98", TWO_BUSY_CORES, 20),
)
PAUSE_ITERATIONS = Threshold(
    20.0,
    "number",
    "maximum time between calls, in usual times between calls: beyond it something else ran",
    Chosen("as RARE_SITE"),
)


class _Words(NamedTuple):
    """``called``: what is called, for labels."""

    code: str
    called: str
    cost_ms: float
    advice: str
    detail: str
    remedy: Remedy = Rewrite()


_SESSION = _Words(
    "EAG012",
    "session.run",
    SESSION_RUN_MS.value,
    "Feed many rows per call and fetch all results in it: session.run([a, b], {x: rows}). Or: migrate to TensorFlow 2 "
    "and a tf.function.",
    "Each call checks and copies its inputs and looks up its part of the graph, however small the work is.",
)
_FUNCTION = _Words(
    "EAG013",
    "the tf.function",
    costs.FUNCTION_CALL_MIN_MS.value,
    "Call the tf.function once for many rows: stack requests, or the states of several environments. Or: move this "
    "loop into the function, for i in tf.range(n), so that it runs in the graph.",
    "Each call binds its arguments in Python and starts the graph in the runtime, however small the work is.",
    BatchLoop(),
)
_BATCH = _Words(
    "EAG004",
    "the model's function",
    costs.FUNCTION_CALL_MIN_MS.value,
    "Collect the inputs of many iterations into one array and call predict(rows, batch_size=1024) once. Or: call "
    "predict_on_batch once.",
    "Each call binds its arguments in Python and starts the graph in the runtime, however few rows there are.",
    BatchSize("predict"),
)
#: The functions that Keras compiles for such a call.
_ON_DATA = ("one_step_on_data", "one_step_on_data_distributed")


def called_for_little(evidence: Evidence) -> Iterable[Finding]:
    """The findings; not where a loop adds operations to a session's graph, or makes its models again: those take it."""
    if evidence.samples.count < MIN or not evidence.step_ms:
        return
    if evidence.work is None:
        if making(evidence) is None:
            yield from _judge_calls(evidence, "function", ON_BATCH, _BATCH)
        return
    grown = growing(evidence)
    if not (grown if grown is not None else any(made_in_loops(evidence, file) for file in evidence.files())):
        yield from _judge_calls(evidence, "session", SESSION, _SESSION)
    if making(evidence) is None:
        yield from _judge_calls(evidence, "function", COMPILED, _FUNCTION)
        yield from _judge_calls(evidence, "function", ON_BATCH, _BATCH)


def _judge_calls(evidence: Evidence, kind: MarkerKind, api: Api, words: _Words) -> Iterator[Finding]:
    samples = evidence.samples
    at: Counter[Place] = Counter()
    for stack, count in samples.stacks.items():
        if stack.frames and stack.activity in ("graph", "dispatch") and stack.context != "evaluate":
            leaf = stack.frames[-1]
            own = own_frames(evidence, stack)[: -1 if api is ON_BATCH else None]
            if is_calling(evidence, leaf, api) and not any(is_calling(evidence, frame, TRAINER) for frame in own):
                at[leaf.file, leaf.line] += count
    share = at.total() / samples.count
    if share < MEDIUM:
        return
    place = at.most_common(1)[0][0]
    calls_of_it = _calls(evidence, kind, place)
    if len(calls_of_it) < MIN_MADE.value:
        return
    if evidence.work is None and len(calls_of_it) < SEVERAL_CALLS.value * evidence.steps.count:
        return  # one for each step may need what the step before gave
    each_ms = statistics.median(took for _, took in calls_of_it)
    if each_ms <= 0:
        return
    # C code of the line before lets no sample through: some of its time is seen as the call's, which was timed.
    share = min(share, share - at[place] / samples.count + _timed_share(calls_of_it))
    if share < MEDIUM:
        return
    certain = words.cost_ms / each_ms
    needed_ms = _needed_ms(evidence, place) if kind == "function" else None
    longest_ms = costs.FUNCTION_CALL_MAX_MS.value * max(_at_a_time(calls_of_it), 1.0)
    if needed_ms is not None and each_ms <= longest_ms:  # a longer call does compute
        certain = max(certain, 1 - needed_ms / each_ms)
    overhead = share * min(1.0, certain)
    if overhead < shared.MOSTLY.value * share or overhead < MEDIUM:
        return
    gained = price(words.remedy, Part(overhead * UNKNOWN_PART.value, share))
    around = find_loops(evidence, *place)
    spans = [span(evidence, *place), *([span(evidence, place[0], around[-1].line)] if around else [])]
    yield Finding(
        code=words.code,
        remedy=words.remedy,
        title=TITLES[words.code],
        share_of_step=overhead,
        gain=gained,
        where=tuple(dict.fromkeys(spans)),
        evidence=(
            Measurement(f"time in calls of {words.called}", share, "share", "samples"),
            Measurement(f"median call of {words.called}", each_ms, "ms", "run"),
            Measurement("calls timed", float(len(calls_of_it)), "count", "run"),
        ),
        advice=words.advice,
        detail=words.detail,
        absorbs_here=("LIN001",),
        parts=("dispatch", "graph"),
    )


def _needed_ms(evidence: Evidence, place: Place) -> float | None:
    """Return the most ms that the function called at a line needs for its arithmetic and its bytes; None if unknown."""
    here = count_frames_at(evidence, place)
    costs = evidence.offer(FunctionCosts)
    frame = next((item for item in here if is_calling(evidence, item, COMPILED)), None)
    name = name_callee(find_call(evidence, frame, COMPILED) if frame is not None else None, "").rpartition(".")[2]
    names = _ON_DATA if any(is_calling(evidence, item, ON_BATCH) for item in here) else (name,)
    found = [item for item in (costs.functions if costs is not None else ()) if item.function in names]
    ops = evidence.offer(OpsData)
    # Keras names what ``train_on_batch`` calls alike; the line at which each was traced tells them apart.
    traced = {brief.graph for brief in (ops.all if ops is not None else ()) if _calls_at(brief, place)}
    found = [item for item in found if item.graph in traced] or found
    bounds = [graph_time.float32_ms(evidence, [(item, 1.0)]) for item in found]
    known = [bound[1] for bound in bounds if bound is not None]
    return max(known) if known and len(known) == len(found) else None


def _calls_at(brief: Brief, place: Place) -> bool:
    return any((span.file, span.line) == place for span in brief.callers)


def _calls(evidence: Evidence, kind: MarkerKind, place: Place) -> list[tuple[float, float]]:
    """When the calls of this kind at a line began and how long they took, in ms."""
    here = {site.id for site in sites(evidence) if site.kind == kind and (site.file, site.line) == place}
    return [(ms(item.begin_ns), ms(item.end_ns - item.begin_ns)) for item in evidence.markers() if item.site in here]


def _at_a_time(timed: list[tuple[float, float]]) -> float:
    """How many of the calls are under way at a time, by threads of the user's: each takes so many times as long, for
    only one of them has the interpreter's lock."""
    iterations = sorted(after - begin for (begin, _), (after, _) in zip(timed, timed[1:], strict=False))
    longest = PAUSE_ITERATIONS.value * statistics.median(iterations)
    whole = sum(iteration for iteration in iterations if iteration <= longest)
    return len(iterations) * statistics.median(took for _, took in timed) / whole if whole > 0 else 1.0


def _timed_share(timed: list[tuple[float, float]]) -> float:
    """The share that the calls take of the time from call to call, at most; pauses are left out."""
    iterations = [(after - begin, took) for (begin, took), (after, _) in zip(timed, timed[1:], strict=False)]
    longest = PAUSE_ITERATIONS.value * statistics.median(iteration for iteration, _ in iterations)
    iterations = [(iteration, took) for iteration, took in iterations if iteration <= longest]
    whole = sum(iteration for iteration, _ in iterations)
    return min(sum(took for _, took in iterations) / MARKED_MIN.value / whole, 1.0) if whole > 0 else 1.0
