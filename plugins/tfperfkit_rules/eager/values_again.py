"""EAG017, for any other value that each iteration of a loop computes again from the same inputs.

The source shows that the call gives the same in each iteration and changes nothing, also through the attributes of
objects (a matrix that a method factorises). The gain leaves out all iterations of the loop but the first; a window sees
only some of them, so half of what remains may go too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import LineCounts
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.samples import MIN, Frame, Stack
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.eager.passes_again import MIN_ITERATIONS_AGAIN
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import TRAINER, is_calling, name_callee
from tfperfkit_rules.measures.same_iterations import SameIterations, find_same_iterations
from tfperfkit_rules.measures.source_text import find_frame_loops, find_function, find_running_calls
from tfperfkit_rules.measures.step_shares import span

_COMPUTES = ("eager_ops", "dispatch", "graph", "python")
_SYMPTOMS = ("EAG008", "LIN001", "STP003", "STP007", "GRF025", "SYN001")


class _Repeated(NamedTuple):
    """``way``: the frames to the line of the call, outermost first."""

    way: tuple[Frame, ...]
    call: Call
    loop: SameIterations


def same_value(evidence: Evidence) -> Iterable[Finding]:
    """Find the outermost call that takes much of a work and is the same in each iteration of a loop in the work; with
    the other such calls of its function."""
    whole = evidence.samples.count
    if evidence.work is None or whole < MIN:
        return
    inside = _count_ways(evidence)
    found: Counter[_Repeated] = Counter()
    for way, count in sorted(inside.items(), key=lambda item: len(item[0])):
        known = any(way[: len(other.way)] == other.way for other in found)
        if count >= MEDIUM * whole and not known:
            repeated = _find_repeated(evidence, way)
            if repeated is not None:
                found[repeated] = count
    if not found:
        return
    first, _ = max(found.items(), key=lambda item: item[1])
    function = find_function(evidence, first.way[-1].file, first.way[-1].line)
    together: Counter[Call] = Counter()
    for other, number in found.items():
        if other.loop == first.loop and find_function(evidence, other.way[-1].file, other.way[-1].line) == function:
            together[other.call] += number
    iterations = _count_iterations(evidence, first)
    if iterations >= MIN_ITERATIONS_AGAIN.value:
        yield _make_finding(evidence, first, together, iterations)


def _count_ways(evidence: Evidence) -> Counter[tuple[Frame, ...]]:
    """Count the samples below each line that stacks go through, by all frames down to the line."""
    inside: Counter[tuple[Frame, ...]] = Counter()
    for stack, count in evidence.samples.stacks.items():
        if _computes(evidence, stack):
            way = tuple(frame._replace(calls=None) for frame in stack.frames)
            for depth in range(1, len(way) + 1):
                inside[way[:depth]] += count
    return inside


def _computes(evidence: Evidence, stack: Stack) -> bool:
    """Whether a sample is in computing; Keras' own methods have rules of their own."""
    leaf = stack.frames[-1] if stack.frames else None
    return leaf is not None and stack.activity in _COMPUTES and not is_calling(evidence, leaf, TRAINER)


def _find_repeated(evidence: Evidence, way: tuple[Frame, ...]) -> _Repeated | None:
    calls = find_running_calls(evidence, way[-1])
    if len(calls) != 1:
        return None
    start = next((n for n in reversed(range(len(way))) if way[n].file != way[-1].file), -1) + 1
    loop = find_same_iterations(evidence, way[start:], calls[0])
    return _Repeated(way, calls[0], loop) if loop is not None else None


def _count_iterations(evidence: Evidence, found: _Repeated) -> float:
    """Count the iterations of a loop each time that it begins, by counted lines: its header runs once more. If no line
    was counted, those of the work, if the work's loop is the outermost, which begins once; else how often samples saw
    the call and the loop begin."""
    counts, loop, work = evidence.offer(LineCounts), found.loop, evidence.work
    hits = {row.line: row.hits for row in (counts.rows if counts is not None else ()) if row.file == loop.in_file}
    first, last = loop.body
    body = [number for line, number in hits.items() if first <= line <= last and number]
    iterations = hits.get(loop.once, 0) or min(body, default=0)
    if not iterations and work is not None and work.iterations and _is_outermost(evidence, found):
        of_work = (work.where.file, work.where.line) == (loop.file, loop.line)
        if of_work:
            return float(work.iterations)
    if not iterations:
        times = evidence.log.count_times((found.way[-1].file, found.way[-1].line))
        return times / max(evidence.log.count_times((loop.file, loop.line)), 1)
    return iterations / max(hits.get(loop.line, 0) - iterations, 1)


def _is_outermost(evidence: Evidence, found: _Repeated) -> bool:
    """Whether no other loop is around the loop, in any function on the way to it."""
    around = next(filter(None, (find_frame_loops(evidence, frame) for frame in found.way)), ())
    return bool(around) and around[0].line == found.loop.line


def _make_finding(evidence: Evidence, found: _Repeated, calls: Counter[Call], iterations: float) -> Finding:
    """Make the finding. ``calls``: those of one function, with the samples in each."""
    whole = evidence.samples.count
    share, loop, name = calls.total() / whole, found.loop, name_callee(found.call, "the same value")
    gained = price(Rewrite("repeated"), Part.sampled(share, whole), Left(1 / (2 * iterations), 1 / iterations))
    file = found.way[-1].file
    lines = (found.way[-1].line, *(call.line for call in calls if call is not found.call))
    texts = [_write_call(call) for call in sorted(calls, key=lambda call: call.line)]
    return Finding(
        code="EAG017",
        remedy=Rewrite("repeated"),
        family="eager",
        title=f"{name} computes the same in each iteration of line {loop.line}",
        share_of_step=share,
        gain=gained,
        where=tuple(
            dict.fromkeys((*(span(evidence, file, line) for line in lines), span(evidence, loop.file, loop.line)))
        ),
        evidence=(
            Measurement("time in repeated calls", share, "share", "samples"),
            Measurement("iterations of the loop each time", round(iterations), "count", "run"),
            Measurement("samples", float(whole), "count", "baseline"),
        ),
        advice=(
            f"Call {' and '.join(texts)} once, before line {loop.line} or {_say_where(calls)}, and keep the "
            f"{'results' if texts[1:] else 'result'}, such as in an attribute of the object."
        ),
        detail="According to the source, no iteration changes what the call reads, and the call changes nothing.",
        absorbs_here=_SYMPTOMS,
        parts=("eager_ops", "dispatch", "python", "graph"),
    )


def _write_call(call: Call) -> str:
    return call.text if len(call.text) <= shared.MAX_LINE.value else name_callee(call, "it")


def _say_where(calls: Iterable[Call]) -> str:
    """Say where the inputs of calls in one function change: in the method that assigns the attributes they read."""
    first, *_ = calls
    syntax, parts = get_file(first), [part for call in calls for part in call.parts]
    read = {part.text for part in parts if part.kind == "attribute" and part.owner is not None and part.owner.is_self}
    function = syntax.find_function(first.line)
    setting = [
        method.name
        for method in syntax.functions
        if function is not None
        and function.owner
        and (method.owner, method.name == "__init__") == (function.owner, False)
        and any(target.text in read for row in method.assignments for target in row.targets)
    ]
    return f"in {setting[0]}, which sets {min(read)}" if len(setting) == 1 else "where its inputs change"
