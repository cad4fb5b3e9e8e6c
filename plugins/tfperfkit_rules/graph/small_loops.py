"""A loop in a compiled function with trivially small iterations (GRF005): the runtime takes the time, not the work."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.ops.model import GraphLoop

from tfperfkit import calibration, pricing
from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, price
from tfperfkit.pricing.machines import MEASURED_ON, TWO_BUSY_CORES
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.functions import definition, name_function, places
from tfperfkit_rules.graph.loop_advice import advice, carries, kind_of
from tfperfkit_rules.graph.loop_share import Part, count_iterations, is_small, part_of
from tfperfkit_rules.graph.python_calls import calls_python
from tfperfkit_rules.measures.ran_functions import Ran, list_ran_functions

TITLES = {"GRF005": "tf.map_fn or tf.while_loop runs many tiny iterations"}

MIN_SMALL_LOOP = Threshold(
    calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the time in such a loop",
    Derived("XProf's moderate share of one part of a step"),
)
SMALL_LOOP_LEFT_MIN = Threshold(
    0.01,
    "share",
    "minimum share of such a loop that remains with whole tensors or XLA",
    Measured("XLA left 0.007 and 0.008 of a scan and a scalar recurrence, the whole batch 0.02", MEASURED_ON, 4),
)
SMALL_LOOP_LEFT_MAX = Threshold(
    0.25,
    "share",
    "maximum share of such a loop that remains with whole tensors or XLA",
    Measured("vectorized_map left 0.09 of a map_fn over 2,000 rows of 64, XLA 0.21, cumsum 0.07", MEASURED_ON, 3),
)
GRADED_NUMBER_MIN_MS = Threshold(
    2.5e-6,
    "ms",
    "minimum time per number and pass that a loop computes, with whole tensors and their gradients",
    Measured(
        "the fastest of nine: softmax of 2,000 rows of 64 and 512 numbers 5 and 2.2 ns, distances in 128 pairs of "
        "sets of points 11 and 16, recurrences of 800 iterations of 32 and 256 numbers by doubling 3.2 and 3.0 a pass",
        TWO_BUSY_CORES,
        6,
    ),
)
GRADED_NUMBER_MAX_MS = Threshold(
    1.6e-5,
    "ms",
    "maximum time per number and pass that a loop computes, with whole tensors and their gradients",
    Measured("see GRADED_NUMBER_MIN_MS", TWO_BUSY_CORES, 6),
)


class _Found(NamedTuple):
    loop: GraphLoop
    kind: str  # as the user wrote it
    place: SourceSpan


def small_loops(evidence: Evidence) -> Iterator[Finding]:
    """GRF005, for each loop that the user wrote, of the functions that ran."""
    for each in list_ran_functions(evidence):
        part = part_of(evidence, each, _small(evidence, each))
        if part is None or each.share * part.high < MIN_SMALL_LOOP.value:
            continue
        written = [found for loop in part.loops if (found := _written(evidence, loop)) is not None]
        whole = sum(part.weight(found.loop) for found in written)
        for found in written:
            yield from _make_finding(evidence, each, part, found, part.weight(found.loop) / whole)


def _small(evidence: Evidence, each: Ran) -> list[GraphLoop]:
    """Return the innermost loops with trivially small iterations, including gradients of such loops.
    Iterations that call back into Python can be neither compiled nor taken together, and Python takes their time."""
    if each.function.jit_compile:
        return []
    every = each.function.marks.loops
    small = [loop for loop in every if is_small(evidence, loop) and not calls_python(evidence, each.function, loop)]
    around = {loop.around for loop in small}
    return [loop for loop in small if loop.name not in around]


def _written(evidence: Evidence, loop: GraphLoop) -> _Found | None:
    """Return the line where the user wrote the loop.

    A loop that a library makes (a recurrent layer, a sampler) is the library's.
    """
    if loop.backward or loop.where is None:
        return None
    kind = kind_of(evidence, loop.where)
    return _Found(loop, kind, loop.where) if kind else None


#: Shares of a loop that are left when whole tensors or XLA take its place.
_LEFT = Left(SMALL_LOOP_LEFT_MIN.value, SMALL_LOOP_LEFT_MAX.value)


def _left(found: _Found, took_ms: float) -> Left:
    """The same where the loop is differentiated: whole tensors and their gradients are memory traffic. Of iterations
    that need each the one before there is no whole tensor; to double their reach takes a pass for each power of two."""
    loop, iterations = found.loop, count_iterations(found.loop)
    if not loop.measured or iterations is None or took_ms <= 0:
        return _LEFT
    numbers = iterations * loop.elements
    if carries(found.kind):
        numbers *= max(math.log2(max(iterations, 1.0)), 1.0)
    least = numbers * GRADED_NUMBER_MIN_MS.value / took_ms
    most = numbers * GRADED_NUMBER_MAX_MS.value / took_ms
    return Left(min(max(least, _LEFT.low), 1.0), min(max(most, _LEFT.high), 1.0))


def _make_finding(evidence: Evidence, each: Ran, part: Part, found: _Found, of_loops: float) -> Iterator[Finding]:
    low, high = each.share * part.low * of_loops, each.share * part.high * of_loops
    if high < MIN_SMALL_LOOP.value:
        return
    function, loop = each.function, found.loop
    graded = any(other.backward for other in function.marks.loops)
    step_ms = evidence.step_ms or 0.0
    left = _left(found, (low + high) / 2 * step_ms) if graded else _LEFT
    iterations = count_iterations(loop)
    figures = [
        Measurement(f"share of {evidence.unit.the} in {name_function(function)}", each.share, "share", "breakdown"),
        Measurement("operations in an iteration", round(loop.operations), "count", "run"),
    ]
    if iterations is not None:
        figures.append(Measurement("iterations in a call", round(iterations), "count", "run"))
    if loop.measured:
        figures.append(
            Measurement("numbers computed in an iteration", round(max(loop.flops, loop.elements)), "count", "run")
        )
    goes = f"{round(iterations):,} tiny iterations" if iterations is not None else "many tiny iterations"
    yield Finding(
        code="GRF005",
        remedy=ReplaceOps("all_rows"),
        title=f"{found.kind} in {name_function(function)} runs {goes}",
        share_of_step=(low + high) / 2,
        gain=price(ReplaceOps("all_rows"), pricing.Part(low, high), left),
        where=places([found.place, definition(function), SourceSpan(*each.place)]),
        evidence=tuple(figures),
        advice=advice(found.kind, loop, graded),
        detail="TensorFlow starts every operation of the body again in each iteration, at 1 µs or more for each. "
        "The arithmetic on such small tensors takes almost no time.",
        absorbs=("BAT001",),  # what a small batch does not fill is the loop's
        absorbs_here=("LIN001",),
        parts=("graph",),
    )
