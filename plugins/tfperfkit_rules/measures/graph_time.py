"""How much of the step the operations of compiled functions take, by type, and what the arithmetic should take."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.offers import FunctionCalls, FunctionCost, FunctionCosts, RanOperation, RanOperations
from tfperfkit.pricing.costs import find_work_ms
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.ran_functions import measure_graph_ms
from tfperfkit_rules.measures.trace_window import Traced, traced

MOVED_APART = Threshold(
    0.5,
    "share",
    "share of the bytes that operations move that takes time in addition to their arithmetic",
    Chosen("the middle of what is possible: a trace does not tell the two apart"),
)

GRAPH_LEFT = Threshold(
    2.0,
    "number",
    "time to run operations in a graph, in their own time (the executor)",
    Measured(
        "a step of 0.9 ms whose operations took 0.07 ms: in executions of 100 steps each took 0.16 ms in the graph",
        TWO_BUSY_CORES,
        1,
    ),
)

#: Operations that only call or wait for others: their own time is somebody else's work.
WAITING = optable.names(trait="waits")


def find_trace(evidence: Evidence) -> Traced | None:
    """Return the operations of the traced steps, or of the trace that lay in the work, with what makes them those of
    one step or iteration."""
    if evidence.work is not None:
        return traced(evidence)
    data = evidence.offer(RanOperations)
    if data is None or not data.steps:
        return None
    return Traced(data.rows, 1 / data.steps, evidence.offered_by(RanOperations), data.rest_ms)


def rows(evidence: Evidence) -> tuple[RanOperation, ...]:
    """The operations of compiled functions in the traced steps, or in a trace that lay in the work; those that only
    wait are left out."""
    data = find_trace(evidence)
    kept = (row for row in (data.rows if data is not None else ()) if row.where in ("graph", "xla", "device"))
    return tuple(row for row in kept if row.type not in WAITING)


def rest_ms(evidence: Evidence) -> float:
    """The own time of all operations in that trace that have no row."""
    data = find_trace(evidence)
    return data.rest_ms if data is not None else 0.0


def graph_share(evidence: Evidence) -> float:
    """Return the share of the mean step, or of an iteration of the work, in compiled functions; of a work that is calls
    of ``predict`` or ``evaluate`` also in theirs."""
    return measure_graph_ms(evidence) / evidence.step_ms if evidence.step_ms else 0.0


def share(evidence: Evidence, wanted: Callable[[RanOperation], bool]) -> float:
    """Return the share of the mean step (0 to 1) that the wanted operations of compiled functions take: their part of
    the time of all operations there. The trace's summed rest counts as not wanted."""
    known = rows(evidence)
    if not known:
        return 0.0
    whole = sum(row.self_ms for row in known) + rest_ms(evidence)
    return graph_share(evidence) * sum(row.self_ms for row in known if wanted(row)) / whole if whole else 0.0


def least_share(evidence: Evidence) -> float:
    """Return the share (0 to 1) of the mean step, or of an iteration of the work, that the operations of compiled
    functions need at least: their own time, on all processors at once. 0 where they were not traced."""
    data, whole = find_trace(evidence), evidence.step_ms
    if data is None or not whole:
        return 0.0
    own = sum(row.self_ms for row in rows(evidence)) + data.rest_ms
    return min(own * data.scale / max(evidence.cpus, 1) / whole, graph_share(evidence))


def rest(evidence: Evidence) -> float:
    """Return the part (0 to 1) of the compiled functions' operation time that the trace summed up without names."""
    left_out = rest_ms(evidence)
    whole = sum(row.self_ms for row in rows(evidence)) + left_out
    return left_out / whole if whole else 0.0


def is_arithmetic(row: RanOperation) -> bool:
    """Whether the operation is a product, a convolution or the like."""
    return optable.is_heavy(row.type)


def is_elementwise(row: RanOperation) -> bool:
    """Whether the operation works number by number, forward or in a gradient."""
    return row.type in optable.elementwise()


def is_fusable(row: RanOperation) -> bool:
    """Whether XLA would make the operation part of a fused pass: elementwise, a slice, a sum and the like."""
    return "fusable" in optable.row(row.type).traits or is_elementwise(row)


def list_called(evidence: Evidence) -> list[tuple[FunctionCost, float]]:
    """The functions that Python called in the traced steps, or in the trace of a work, and how often per step."""
    calls, costs = evidence.offer(FunctionCalls), evidence.offer(FunctionCosts)
    if calls is None or costs is None:
        return []
    return [(each, calls.per_step[each.graph]) for each in costs.functions if calls.per_step.get(each.graph)]


def float32_ms(evidence: Evidence, functions: Iterable[tuple[FunctionCost, float]]) -> tuple[float, float] | None:
    """ms of a step that these functions should take in float32, operation by operation, at best and at worst.

    None when their FLOPs or what the machine reaches is not known.
    """
    if not evidence.machine_gflops:
        return None
    best = worst = 0.0
    for brief, per_step in functions:
        if brief.flops is None or not _all_counted(brief):
            return None
        moved = MOVED_APART.value * brief.moved_bytes
        work = find_work_ms(evidence.machine_gflops, brief.flops, moved, brief.operations).times(per_step)
        best, worst = best + work.lower, worst + work.upper
    return (best, worst) if worst else None


def growing_ms(evidence: Evidence, function: FunctionCost) -> float | None:
    """ms of a call for its arithmetic and for what it moves, at worst: that grows with the batch, where starting the
    operations does not. None as for ``float32_ms``."""
    if not evidence.machine_gflops or function.flops is None or not _all_counted(function):
        return None
    moved = MOVED_APART.value * function.moved_bytes
    return find_work_ms(evidence.machine_gflops, function.flops, moved).upper


def _all_counted(function: FunctionCost) -> bool:
    """Tell whether all work was counted: if sizes or loop iterations are unknown, more is computed than was counted."""
    return "counted" not in function.flops_note.replace("dimensions counted as", "")
