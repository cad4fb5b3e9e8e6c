"""How much of the step the operations of compiled functions take, by type, and what the arithmetic should take."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tfperfkit_probes.ops_brief import ELEMENTWISE, is_heavy
from tfperfkit_probes.ops_model import Brief, OpsData
from tfperfkit_probes.tfprof import TfprofData
from tfperfkit_probes.tfprof_analysis import OpRow

from tfperfkit.evidence import Evidence

#: Operations that only call or wait for others: their own time is somebody else's work.
WAITING = ("PartitionedCall", "StatefulPartitionedCall", "While", "If", "Case", "_XlaRun", "XlaLaunch", "_Recv")
#: Of one operation: below this TensorFlow's CPU kernels don't divide their work over threads (Eigen's cost model
#: starts a second thread at some tens of microseconds).
DIVIDED_MS = 0.1
#: What a step with much arithmetic reaches without XLA, over what NumPy's float32 product reached after the run: 0.85
#: to 3.5 in seven of nine runs on two busy cores; 9 and 11 in the others, whose product was measured under more load.
LEAST_RATE, MOST_RATE = 0.7, 3.0
#: Memory in bytes per ms, and what an operation of a graph takes at least: bounds for the rest of a step.
LEAST_BYTES, MOST_BYTES = 12e6, 20e6
#: Of the bytes that operations read and write, the part that is taken not to be the arithmetic's own, whose time is in
#: the FLOPs. Assumed, not measured.
APART = 0.5
LEAST_OP_MS, MOST_OP_MS = 0.001, 0.004


def rows(evidence: Evidence) -> tuple[OpRow, ...]:
    """The operations of compiled functions in the traced steps; those that only wait are left out."""
    data = evidence.data("tfprof", TfprofData)
    if data is None or not data.steps:
        return ()
    kept = (row for row in data.top_ops if row.where in ("graph", "xla", "device"))
    return tuple(row for row in kept if row.type not in WAITING)


def share(evidence: Evidence, wanted: Callable[[OpRow], bool]) -> float:
    """The share of the mean step (0 to 1) that the wanted operations of compiled functions take: their part of the
    time of all operations there. What the trace summed up as the rest counts as not wanted."""
    known = rows(evidence)
    data = evidence.data("tfprof", TfprofData)
    if not known or data is None:
        return 0.0
    whole = sum(row.self_ms for row in known) + data.rest_ms
    return evidence.share("graph") * sum(row.self_ms for row in known if wanted(row)) / whole if whole else 0.0


def is_arithmetic(row: OpRow) -> bool:
    """Whether the operation is a product, a convolution or the like."""
    return is_heavy(row.type)


def is_elementwise(row: OpRow) -> bool:
    """Whether the operation works number by number, forward or in a gradient."""
    return row.type in ELEMENTWISE


#: Types that XLA fuses with elementwise operations: slices, their gradients, paddings, sums.
FUSABLE = frozenset(
    ("StridedSlice", "StridedSliceGrad", "Slice", "Pad", "PadV2", "Tile", "BroadcastTo", "Sum", "Mean", "Max", "Min")
)


def is_fusable(row: OpRow) -> bool:
    """Whether XLA would make the operation part of a fused pass: elementwise, a slice, a sum and the like."""
    return row.type in FUSABLE or is_elementwise(row)


def called(evidence: Evidence) -> list[tuple[Brief, float]]:
    """The functions that Python called in the traced steps, and how often per step."""
    data, ops = evidence.data("tfprof", TfprofData), evidence.data("ops", OpsData)
    if data is None or ops is None:
        return []
    calls = {row.name: row.per_step for row in data.calls}
    return [(brief, calls[brief.graph]) for brief in ops.all if calls.get(brief.graph)]


def float32_ms(evidence: Evidence, functions: Iterable[tuple[Brief, float]]) -> tuple[float, float] | None:
    """ms of a step that these functions should take in float32, operation by operation, at best and at worst.

    None when their FLOPs or what the machine reaches is not known.
    """
    if not evidence.machine_gflops:
        return None
    best = worst = 0.0
    for brief, per_step in functions:
        if brief.flops is None or "counted" in brief.flops_note.replace("dimensions counted as", ""):
            return None  # sizes or turns of loops are not known: more is computed than was counted
        arithmetic = per_step * brief.flops / (evidence.machine_gflops * 1e6)
        moved, count = per_step * brief.moved_bytes, per_step * brief.operations
        best += arithmetic / MOST_RATE + APART * moved / MOST_BYTES + count * LEAST_OP_MS
        worst += arithmetic / LEAST_RATE + APART * moved / LEAST_BYTES + count * MOST_OP_MS
    return (best, worst) if worst else None
