"""The part of a step that wasted work takes, forward and backward, and the part that a fix removes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple

from tfperfkit_probes.ops.model import Brief

from tfperfkit import calibration, pricing
from tfperfkit.calibration import Derived, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep, FunctionCalls
from tfperfkit.pricing import costs, graph_ops
from tfperfkit.pricing.costs import find_work_ms
from tfperfkit.remedy import Remedy, ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import C, Cause
from tfperfkit_rules.graph.functions import definition, largest_first, places
from tfperfkit_rules.graph.loop_share import count_iterations
from tfperfkit_rules.graph.loop_trace import is_within
from tfperfkit_rules.measures import graph_time, shared
from tfperfkit_rules.measures.ran_functions import list_ran_functions

#: The prefix that the runtime gives to an operation whose function it has inlined into a call.
_CALL = re.compile(r"(?:Stateful)?PartitionedCall(?:_\d+)?|_\d+")
_FEWER = ReplaceOps("fewer")
#: The window of figures that are from a graph.
_GRAPH = "run"

MIN_WASTE = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in such work",
    Derived("twice XProf's moderate share of one part of a step: not all of it goes"),
)
WASTE_MIN_SAVED = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step that is saved: less is no fault",
    Derived("XProf's moderate share of one part of a step"),
)


@dataclass(frozen=True)
class Part(Generic[C]):
    """Wasted work in a function, its share of the step (0 to 1), of it the gradient's, and the share that goes.
    ``window``: where the share comes from. ``freed``: of the rest of the step, what may go as well."""

    function: Brief
    cause: C
    share: float
    backward: float
    goes: pricing.Part
    window: str
    freed: float = 0.0


def parts_of(evidence: Evidence, causes: Iterable[tuple[Brief, C]]) -> Iterator[Part[C]]:
    """Yield the causes that take enough of the step, or of a work's iteration, the costliest first.

    A cause in a function and in its caller counts once.
    """
    seen: set[SourceSpan | None] = set()
    parts = [part for each in causes if (part := _part(evidence, *each)) is not None]
    for part in sorted(parts, key=lambda part: -part.share):
        if part.cause.where not in seen:
            seen.add(part.cause.where)
            yield part


def finding(
    evidence: Evidence,
    part: Part[Any],
    code: str,
    title: str,
    advice: str,
    detail: str,
    *figures: Measurement,
    remedy: Remedy = _FEWER,
) -> Finding:
    """The finding for wasted work, with its price."""
    waste = part.cause
    unit = evidence.unit
    shares = [Measurement(f"share of {unit.the}", part.share, "share", part.window)]
    if part.backward > 0:
        shares.append(
            Measurement(
                "share of the wasted time in the backward pass", part.backward / part.share, "share", part.window
            )
        )
    return Finding(
        code=code,
        remedy=remedy,
        title=title,
        share_of_step=part.share,
        gain=pricing.price(remedy, part.goes, freed=part.freed),
        where=places([waste.where, *waste.places, definition(part.function)]),
        evidence=(*figures, *shares),
        advice=advice,
        detail=detail,
        # Other findings about the same operations: they are slow, many, or could be fused.
        absorbs=("CMP002", "CMP006"),
        absorbs_here=("GRF003", "GRF005", "GRF007", "GRF009", "STP003"),
        parts=("graph",),
    )


def count(name: str, value: float, unit: str = "count") -> Measurement:
    """Return a figure of the graph."""
    return Measurement(name, round(value), unit, _GRAPH)


def often(number: float) -> str:
    """``24,000``; from a million on ``69 million``."""
    return f"{number / 1e6:,.3g} million" if number >= 1e6 else f"{round(number):,}"


def functions_that_ran(evidence: Evidence) -> Iterator[Brief]:
    """Yield the functions that the steps called, the largest first, without those that XLA compiles."""
    calls = evidence.offer(FunctionCalls)
    # If the trace was cut before a step, nothing was counted: then the samples show the functions that ran.
    cut = calls is not None and not calls.per_step and evidence.offer(ComputedStep) is None
    for function in largest_first(evidence):
        called = calls is None or cut or evidence.work is not None or function.graph in calls.per_step
        if called and function.ran and not function.jit_compile:
            yield function


def _part(evidence: Evidence, function: Brief, waste: C) -> Part[C] | None:
    found = _shares(evidence, function, waste)
    share = min(found.forward + found.backward + found.update, 1.0)
    if share < MIN_WASTE.value or not evidence.step_ms:
        return None
    took_ms, gflops, trained = share * evidence.step_ms, evidence.machine_gflops, found.backward > 0
    left = graph_ops.find_left(took_ms, waste.left, waste.flops, waste.bytes, gflops, with_gradient=trained)
    whole = min(share + found.gaps, graph_time.graph_share(evidence), shared.MAX_STEP_SHARE.value)
    saved = share if found.saved is None else min(found.saved, share)
    goes = pricing.Part(saved * graph_ops.WASTE_SAVED_MIN.value, max(whole, share)).without(left)
    if goes.low < WASTE_MIN_SAVED.value:
        return None
    return Part(function, waste, share, min(found.backward, share), goes, found.window, found.freed)


class _Shares(NamedTuple):
    """Shares of the step: the operations themselves, their gradients, their part of the update, and their part of the
    gaps between operations. ``saved``: the share without gaps that goes at least, since work that ran in parallel
    stays; None if unknown. ``freed``: the share of the rest that goes too, at best.
    """

    forward: float
    backward: float = 0.0
    update: float = 0.0
    gaps: float = 0.0
    window: str = "breakdown"
    saved: float | None = None
    freed: float = 0.0


def _shares(evidence: Evidence, function: Brief, waste: Cause) -> _Shares:
    """Compute the shares from the trace, operation by operation, or from the sizes of the function's tensors."""
    names = set(waste.operations)
    step = evidence.offer(ComputedStep)
    # A work's operations that call bodies are found in the trace by the names of calls.
    if step is not None and step.ms > 0 and (evidence.work is None or not waste.with_bodies):
        # In the clean steps the compiled functions may take longer than in the traced ones: each operation did.
        # Keras' ``predict`` is a part of its own; it makes results that a caller may not read.
        of_keras = evidence.share("evaluate") if waste.of_result else 0.0
        scale = (graph_time.graph_share(evidence) or of_keras) / step.ms
        # Functions of one step may use the same names; their lines tell them apart.
        lines = {("", 0), *((place.file, place.line) for place in (waste.where, *waste.places) if place is not None)}
        rows = [
            row
            for row in step.operations
            if row.stage != "update"
            and ((row.of in names and (row.file, row.line) in lines) or _at_once(row.name, names))
        ]
        forward = scale * sum(row.ms for row in rows if row.stage == "forward")
        whole = scale * sum(row.ms for row in rows)
        updating = [row for row in step.operations if row.stage == "update" and row.of in waste.updates]
        updates = scale * sum(row.ms for row in updating)
        every = scale * sum(row.ms for row in step.operations)
        gaps = scale * _idle_ms(evidence, step)
        gaps *= max((whole + updates) / every if every else 0.0, _runs(step, rows, waste))
        saved = scale * graph_ops.find_saved_ms(step, [*rows, *updating])
        if waste.each_variable:
            # A gap that is longer than starting the operations takes is a wait for something else. A trace
            # leaves out operations that TensorFlow holds for cheap; the graph has them.
            starts = max(sum(row.runs for row in (*rows, *updating)), len(names.union(waste.updates)))
            gaps = min(gaps, starts * costs.GRAPH_OP_MAX_MS.value / (evidence.step_ms or math.inf))
            return _Shares(forward, whole - forward, updates + gaps, saved=saved + gaps)
        return _Shares(forward, whole - forward, updates, gaps, saved=saved, freed=graph_ops.find_freed_share(rows))
    # If no trace timed a step's operations (few steps, or the run was cut), sizes are used too, without gradients.
    if evidence.work is None and (step is not None or waste.each_variable or waste.of_result):
        return _Shares(0.0)
    mine = next((each for each in list_ran_functions(evidence) if each.function.graph == function.graph), None)
    if mine is None:
        return _Shares(0.0)
    if graph_time.rows(evidence):
        if not waste.with_bodies:
            return _Shares(graph_time.share(evidence, lambda row: _is_one_of(row.name, names)), window="tfprof")
        # Many operations, of which those that take little are in the trace's rest: at most in proportion.
        share = graph_time.share(evidence, lambda row: _is_inside(row.name, names))
        rest = graph_time.rest(evidence)
        return _Shares(share, gaps=share * rest / (1 - rest) if rest < 1 else 0.0, window="tfprof")
    gflops = evidence.machine_gflops or graph_ops.USUAL_GFLOPS.value
    total = find_work_ms(gflops, waste.whole_flops, waste.whole_bytes).lower
    part = find_work_ms(gflops, waste.takes_flops + waste.uncounted_flops, waste.takes_bytes).lower
    share = mine.share * min(1.0, part / total) if total > 0 else 0.0
    # Gradients, which a step has, are in the total and in no part: what is theirs may be any of the rest.
    return _Shares(share, gaps=mine.share - share if evidence.work is None and share else 0.0)


def _idle_ms(evidence: Evidence, step: ComputedStep) -> float:
    """Return the part of the time between operations that is between those in the trace."""
    runs, hidden = sum(row.runs for row in step.operations), _count_untraced_runs(evidence, step)
    return step.idle_ms * runs / (runs + hidden) if hidden else step.idle_ms


def _runs(step: ComputedStep, rows: list[ComputedOperation], waste: Cause) -> float:
    """Return the part (0 to 1) of the operations started in a step that these and their part of the update are."""
    updates = sum(row.runs for row in step.operations if row.stage == "update" and row.of in waste.updates)
    every = sum(row.runs for row in step.operations)
    return (sum(row.runs for row in rows) + updates) / every if every else 0.0


def _at_once(name: str, names: set[str]) -> bool:
    """Return the type by which a gradient counts. One that is made for many numbers at once goes by the operation that
    it differentiates; its own name, which nothing else has, tells it."""
    return "/pfor/" in name and _is_one_of(name, names)


def _is_one_of(name: str, names: set[str]) -> bool:
    """The runtime puts the body of a loop in its place: ``while/body/_1/while/MatrixSolve``."""
    return name in names or any(name.endswith(f"/{each}") for each in names)


def _is_inside(name: str, names: set[str]) -> bool:
    """Whether an operation is one of these, or in a body that one of these calls; names of calls may stand before."""
    parts = name.split("/")
    begins = [0, *(at for at in range(1, len(parts)) if _CALL.fullmatch(parts[at - 1]))]
    return any("/".join(parts[begin:end]) in names for begin in begins for end in range(begin + 1, len(parts) + 1))


def _count_untraced_runs(evidence: Evidence, step: ComputedStep) -> float:
    """Count the operations of loops that run in a step and are not in the trace, which leaves out cheap ones.

    The time between the operations in the trace is mostly theirs. The count is infinite if the iterations of a loop are
    not known and none of its operations is in the trace.
    """
    calls = evidence.offer(FunctionCalls)
    ran: dict[str, float] = {}
    for function in largest_first(evidence):
        often = calls.per_step.get(function.graph, 0.0) if calls is not None else 0.0
        for loop in function.marks.loops:
            iterations = count_iterations(loop)
            inner = any(other.around == loop.name for other in function.marks.loops)
            if often and not inner and not loop.trains:
                runs = often * iterations * loop.operations if iterations is not None else math.inf
                ran[loop.name] = max(ran.get(loop.name, 0.0), runs)
    seen = {name: sum(row.runs for row in step.operations if is_within(row.name, name)) for name in ran}
    return sum(max(0.0, each - seen[name]) for name, each in ran.items() if math.isfinite(each) or not seen[name])
