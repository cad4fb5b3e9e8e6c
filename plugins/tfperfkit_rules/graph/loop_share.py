"""The part of a compiled function that its loops of tiny iterations take, from a trace, or from the most that the rest
can take.

An operation costs the runtime about the same however little it does. If the number of iterations is known, their
operations are counted. If it depends on data, the loop gets the part of the function's time that the rest of the
function can't explain.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.ops.model import GraphLoop

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.pricing import costs
from tfperfkit.pricing.graph_ops import USUAL_GFLOPS
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.loop_trace import Seen, seen
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.ran_functions import Ran
from tfperfkit_rules.measures.source_text import find_loops

SMALL_LOOP_ITERATIONS = Threshold(
    32,
    "iterations",
    "minimum number of iterations of a loop in a compiled function",
    Chosen("10 to 50 us each: a shorter loop takes about as long as a call of the function"),
)
SMALL_LOOP_RATE = Threshold(
    0.01,
    "share",
    "lowest rate at which the numbers of an iteration are computed, as a share of that of NumPy's float32 matmul",
    Chosen("1 GFLOP/s at 100: an exponential takes a few ns, and slower work does not count as small"),
)
SMALL_LOOP_OWN = Threshold(
    0.5,
    "share",
    "maximum ratio of the operations' own work to what the runtime needs for a loop",
    Chosen("with more, the iterations do work that a whole tensor would need too"),
)
SMALL_LOOP_OPERATION_MAX_MS = Threshold(
    0.005,
    "ms",
    "maximum time of a minimal operation in an iteration; the minimum is GRAPH_OP_MIN_MS",
    Measured(
        "0.6 to 2.3 us, median 1.5, in six loops of 7 to 16 operations an iteration; at a load of 6 up to 4.7",
        MEASURED_ON,
        6,
    ),
)


class Part(NamedTuple):
    """``low`` to ``high``: the share of the function's time (0 to 1) in these loops together."""

    loops: list[GraphLoop]
    low: float
    high: float

    def weight(self, loop: GraphLoop) -> float:
        """To divide the time among the loops: operations that run, or those of an iteration where some iterations are
        unknown."""
        known = all(count_iterations(each) is not None for each in self.loops)
        return loop.operations * ((count_iterations(loop) or 1.0) if known else 1.0)


def count_iterations(loop: GraphLoop) -> float | None:
    """All iterations in a call of the function; None where they depend on data."""
    return None if loop.turns is None or loop.goes is None else loop.turns * loop.goes


def is_small(evidence: Evidence, loop: GraphLoop) -> bool:
    """Whether the arithmetic of an iteration, at the slowest rate, takes less than the runtime does over it: at its
    quickest, or, where a trace shows that the loop's operations take the lesser part of what passes in it, at its
    slowest. Tell whether a loop's iterations are small; if sizes are open, the trace decides. A kernel that takes long
    to start is no work."""
    iterations, trace = count_iterations(loop), seen(evidence)
    if loop.trains:
        return False
    if iterations is not None and iterations < SMALL_LOOP_ITERATIONS.value:
        return False
    slowest = SMALL_LOOP_RATE.value * (evidence.machine_gflops or USUAL_GFLOPS.value) * 1e6  # a ms
    work_ms = max(loop.flops, loop.elements) / slowest
    runtime_ms = SMALL_LOOP_OWN.value * loop.operations * costs.GRAPH_OP_MIN_MS.value
    if loop.measured and work_ms <= runtime_ms and (trace is None or trace.starts(loop)):
        return True
    if trace is None or trace.own_ms(loop) > SMALL_LOOP_OWN.value * trace.wall_ms:
        return False
    if not _mostly_waits(trace, loop):
        return loop.measured and work_ms <= runtime_ms
    slower = SMALL_LOOP_OPERATION_MAX_MS.value / costs.GRAPH_OP_MIN_MS.value
    return not loop.measured or work_ms <= slower * runtime_ms


def _mostly_waits(trace: Seen, loop: GraphLoop) -> bool:
    """Whether its operations take the lesser part of all that no other operation explains."""
    alone = trace.wall_ms * (1 - trace.rest_share([loop]))
    left_out = alone >= shared.MOSTLY.value * trace.wall_ms and trace.leaves_out(loop)
    enough = trace.count(loop) >= SMALL_LOOP_ITERATIONS.value or left_out
    return enough and trace.own_ms(loop) <= SMALL_LOOP_OWN.value * alone


def part_of(evidence: Evidence, each: Ran, small: list[GraphLoop]) -> Part | None:
    """None where neither the trace nor the sizes tell."""
    took = each.share * (evidence.step_ms or 0.0)
    rest = _rest_ms(evidence, each, small, took) if small and took > 0 else None
    if rest is None:
        return None
    counted = [iterations * loop.operations for loop in small if (iterations := count_iterations(loop)) is not None]
    if len(counted) == len(small):
        low = sum(counted) * costs.GRAPH_OP_MIN_MS.value
        high = sum(counted) * SMALL_LOOP_OPERATION_MAX_MS.value
        return Part(small, low / (low + rest[1]), high / (high + rest[0]))
    if seen(evidence) is None and _called_more_often(evidence, each):
        return None
    return Part(small, max(0.0, 1 - rest[1] / took), max(0.0, 1 - rest[0] / took))


def _rest_ms(evidence: Evidence, each: Ran, small: list[GraphLoop], took: float) -> tuple[float, float] | None:
    """ms of a call, at best and at worst, of what is not in these loops; from the trace where sizes don't tell."""
    function, trace = each.function, seen(evidence)
    if function.flops is None or not function.marks.outside_measured or _others_open(function.marks.loops, small):
        if trace is None:
            return None
        rest = trace.rest_share(small) * took
        return 0.0, rest
    flops = max(0.0, function.flops - sum(loop.whole_flops for loop in small))
    moved = max(0.0, function.moved_bytes - sum(loop.whole_bytes for loop in small))
    gflops, operations = evidence.machine_gflops or USUAL_GFLOPS.value, function.operations
    best = costs.find_work_ms(gflops, flops, 0.0, operations).lower
    return best, costs.find_work_ms(gflops, flops, moved, operations).upper


def _others_open(every: list[GraphLoop], small: list[GraphLoop]) -> bool:
    """Whether a loop with real work in its iterations has a work that is not known. One around a small loop is judged
    by what is in it besides."""
    return any(loop.turns is None or not loop.measured for loop in every if loop not in small)


def _called_more_often(evidence: Evidence, each: Ran) -> bool:
    """Whether a loop stands between the iteration, or the work, and the call: then how often it is called is not
    known."""
    inner = find_loops(evidence, *each.place)
    if evidence.work is not None and evidence.work.iterations is None:
        return bool(inner)
    outer = evidence.work.where if evidence.work is not None else evidence.steps.loop
    return bool(inner) and (outer is None or (each.place[0], inner[-1].line) != (outer.file, outer.line))
