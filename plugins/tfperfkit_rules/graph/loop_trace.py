"""The record of a trace about loops in compiled functions: their operations carry the loop's name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit_probes.ops.model import GraphLoop

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.offers import RanOperation, StepBreakdown
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import graph_time
from tfperfkit_rules.measures.ran_functions import measure_graph_ms

KERNEL_START_MAX_MS = Threshold(
    0.3,
    "ms",
    "maximum time of a kernel on little data",
    Measured(
        "62 us for oneDNN's softmax of 12 x 12 numbers; an iteration of tf.map_fn with it 70. 252 us for its depthwise "
        "convolution of 16 x 16 x 3 numbers, on two threads at once; 128 such images together take 0.9 ms",
        MEASURED_ON,
        4,
    ),
)

#: The operations of ``tf.map_fn`` and ``tf.scan`` before the first iteration of their loop, and after the last.
_AROUND = ("TensorArrayUnstack/", "TensorArrayV2Stack/")


class Seen(NamedTuple):
    """The compiled functions in a trace: their operations, and the ms (wall) that passed in them. The runtime leaves
    out operations that it takes for cheap, so counts are lower bounds; what they took is none that counts."""

    rows: tuple[RanOperation, ...]
    wall_ms: float
    left_out_ms: float

    def own_ms(self, loop: GraphLoop) -> float:
        """The own time of the loop's operations."""
        return sum(row.self_ms for row in self.rows if is_within(row.name, loop.name))

    def starts(self, loop: GraphLoop) -> bool:
        """Whether no operation of the loop takes longer than a kernel may take to start."""
        runs = ((row.self_ms, row.count) for row in self.rows if is_within(row.name, loop.name))
        return all(took <= KERNEL_START_MAX_MS.value * count for took, count in runs)

    def count(self, loop: GraphLoop) -> int:
        """How often its most frequent operation was seen."""
        return max((row.count for row in self.rows if is_within(row.name, loop.name)), default=0)

    def leaves_out(self, loop: GraphLoop) -> bool:
        """Whether whole calls are in it, but no operation of the loop: the runtime took all of them for cheap
        (5,000 to 8,000 processor cycles at most, by version: TensorFlow's ``kOpIsExpensiveThresholdCycles``)."""
        before, after = (f"{loop.name.rpartition('/')[0]}/{each}" for each in _AROUND)
        rows = [(_own_name(row.name), row.count) for row in self.rows]
        whole = (sum(count for name, count in rows if name.startswith(each)) for each in (before, after))
        return all(whole) and not any(is_within(row.name, loop.name) for row in self.rows)

    def rest_share(self, loops: Iterable[GraphLoop]) -> float:
        """Return the share of the time in compiled functions that operations outside of these loops take, in parallel
        or not.
        """
        names = list(loops)
        rest = sum(row.self_ms for row in self.rows if not any(is_within(row.name, loop.name) for loop in names))
        return min(1.0, (rest + self.left_out_ms) / self.wall_ms)


def seen(evidence: Evidence) -> Seen | None:
    """None where nothing of the steps, or of the work, was traced."""
    trace, rows = graph_time.find_trace(evidence), graph_time.rows(evidence)
    if trace is None or not rows or not trace.scale:
        return None
    if evidence.work is not None:
        wall = measure_graph_ms(evidence)
    else:
        breakdown = evidence.offer(StepBreakdown)
        wall = breakdown.parts_ms.get("graph", 0.0) if breakdown is not None else 0.0
    return Seen(rows, wall / trace.scale, trace.rest_ms) if wall > 0 else None


def _own_name(operation: str) -> str:
    """Strip the names of calls that the runtime has inlined, as in a step of ``fit``."""
    return re.sub(r"^((Stateful)?PartitionedCall(_\d+)?/)+", "", operation)


def is_within(operation: str, loop: str) -> bool:
    """Tell whether an operation is in a loop, by their names. The runtime puts the bodies of a loop in its place:
    ``map/while/body/_1/map/while/Mean``."""
    return f"{loop}/body/" in operation or f"{loop}/cond/" in operation
