"""EAG017, for models and compiled functions that each iteration of a loop calls with the same inputs.

The source shows that neither the inputs nor the weights change between iterations. The gain leaves out all iterations
but one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import MEDIUM, interval
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import LineCounts
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.called import COMPILED, LAYER, TRAINER, find_call, is_calling, name_callee
from tfperfkit_rules.measures.same_iterations import SameIterations, find_same_iterations
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_shares import span

MIN_ITERATIONS_AGAIN = Threshold(
    3,
    "iterations",
    "minimum number of iterations in which the same is computed",
    Chosen("two may be before and after something"),
)

_SYMPTOMS = ("EAG004", "EAG008", "EAG013", "LIN001", "STP003", "INP001", "INP012", "INP013", "SYN001")


def same_pass(evidence: Evidence) -> Iterable[Finding]:
    """For the call that takes the most of a work in which nothing is trained."""
    whole = evidence.samples.count
    if evidence.work is None or whole < MIN:
        return
    found: Counter[tuple[Place, SameIterations]] = Counter()
    known: dict[tuple[Place, ...], SameIterations | None] = {}
    named: dict[Place, Call] = {}
    for stack, count in evidence.samples.stacks.items():
        call = _find_call(evidence, stack)
        if call is None:
            continue
        way = tuple((frame.file, frame.line) for frame in stack.frames)
        if way not in known:
            known[way] = find_same_iterations(evidence, stack.frames, call)
        loop = known[way]
        if loop is not None:
            named[way[-1]] = call
            found[way[-1], loop] += count
    for (place, loop), count in found.most_common(1):
        iterations = _count_iterations(evidence, loop)
        if iterations >= MIN_ITERATIONS_AGAIN.value and count >= MEDIUM * whole:
            yield _make_finding(
                evidence, place, loop, name_callee(named[place], "the model"), count / whole, iterations
            )


def _find_call(evidence: Evidence, stack: Stack) -> Call | None:
    """Find the call of a model or of a compiled function that a sample is in, not by Keras' own ``predict``."""
    leaf = stack.frames[-1] if stack.frames else None
    if leaf is None or stack.activity not in ("graph", "eager_ops", "dispatch") or is_calling(evidence, leaf, TRAINER):
        return None
    return next((find_call(evidence, leaf, api) for api in (LAYER, COMPILED) if is_calling(evidence, leaf, api)), None)


def _count_iterations(evidence: Evidence, loop: SameIterations) -> float:
    """Count how often the body of a loop ran, at least: by counted lines, or by iterators that were made there."""
    first, last = loop.body
    counts, data = evidence.offer(LineCounts), evidence.offer(InputData)
    rows = counts.rows if counts is not None else ()
    hits = [row.hits for row in rows if row.file == loop.in_file and first <= row.line <= last and row.hits]
    pipelines = data.pipelines if data is not None else ()
    made = [row.iterators for row in pipelines if row.file == loop.in_file and first <= row.line <= last]
    return float(max(min(hits, default=0), *made, 0))


def _share_of_loop(evidence: Evidence, place: Place) -> float:
    """Return the share of the innermost loop around a line: where it goes over the data for this alone, all of it
    goes."""
    inner = find_loops(evidence, *place)
    held = sum(
        count
        for stack, count in evidence.samples.stacks.items()
        if inner
        and any(frame.file == place[0] and inner[-1].line <= frame.line <= inner[-1].last for frame in stack.frames)
    )
    return held / evidence.samples.count


def _make_finding(
    evidence: Evidence, place: Place, loop: SameIterations, name: str, share: float, iterations: float
) -> Finding:
    low, _ = interval(share, evidence.samples.count)
    _, high = interval(max(share, _share_of_loop(evidence, place)), evidence.samples.count)
    gained = price(Rewrite("repeated"), Part(low, high), Left(0.0, 1 / iterations))
    around = span(evidence, loop.file, loop.line)
    return Finding(
        code="EAG017",
        remedy=Rewrite("repeated"),
        title=f"{name} repeated on the same data and weights, in each iteration of line {loop.line}",
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys((span(evidence, *place), around))),
        evidence=(
            Measurement("time in repeated calls", share, "share", "samples"),
            Measurement("iterations counted, at least", iterations, "count", "run"),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=(
            f"Call {name} once for all the data, before line {loop.line}, and keep the result. In the loop, "
            "compute only what differs between iterations, from that result."
        ),
        detail="According to the source, no iteration changes the inputs of the call or the weights.",
        absorbs_here=_SYMPTOMS,
        parts=("graph", "dispatch", "eager_ops", "host_sync", "input", "other"),
    )
