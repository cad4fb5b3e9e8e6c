"""Estimate the part of eager operations that compiling leaves, in work outside training steps or next to a compiled
step, from a trace of the operations.

The estimate follows ``eager.gain``, with four differences. A trace of work has no steps, so it is scaled by time.
Operations on files do not change. Calls outside the function to compile do not change. Work has an end, so tracing the
function once counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit import pricing
from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.graph import optable
from tfperfkit.model import Measurement
from tfperfkit.offers import RanOperation, RanOperations
from tfperfkit.pricing import Part, costs
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.eager_ops import TRACED_MAX, EagerOps, batch_ops, compile_ops, trace_once
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_OPERATIONS
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.loop_of_batch import MIN_ITERATIONS
from tfperfkit_rules.measures.trace_window import Traced, traced

RARE_TYPES = Threshold(
    0.25,
    "share",
    "share of the types of operations, rarest first, that run once or a few times in each call",
    Chosen("a step that TensorFlow differentiates has some forty types, most of which its few heavy layers repeat"),
)
LONGEST_CALL = Threshold(
    1000.0,
    "operations",
    "maximum number of operations of one call of what would be compiled, if no line was counted: what is rarer is "
    "outside of it",
    Chosen("a step of a GAN has 1,240, a step of a network with second derivatives 800"),
)
TRACING_REPORTED = Threshold(
    0.3,
    "share",
    "minimum share of tracing in the compiled work, for the tracing to be mentioned",
    Chosen("longer work of the same kind then gains clearly more"),
)
MAPS_LEFT_MIN = Threshold(
    0.001,
    "share",
    "minimum share of an eager tf.map_fn that operations on the whole tensor leave",
    Measured("200 rows of 12 numbers: 309 ms became 0.38 ms, 0.0003 to 0.0024", TWO_BUSY_CORES, 7),
)
MAPS_LEFT_MAX = Threshold(
    0.4,
    "share",
    "maximum share of an eager tf.map_fn that remains, if no trace counted the operations",
    Measured(
        "compiled 0.008 to 0.019; matmuls of 256 x 256, which are work themselves, 0.43 and, as one matmul of all, "
        "0.40",
        TWO_BUSY_CORES,
        7,
    ),
)

#: Operations that read and decode files.
_FILES = optable.names(kind=("file", "decode", "encode", "parse", "dataset", "iterator"))


class Left(NamedTuple):
    """Shares of the eager time, the least and the most, that are left when it is compiled; ``operations`` in an
    iteration or in all of the work; None if no trace counted them. ``types``: the most frequent.

    ``traced_s``: what tracing takes once, where that is much of what is left; ``loops``: what is to be compiled is
    called so seldom that its own loops should become loops of the graph.
    """

    lower: float
    upper: float
    operations: float | None = None
    types: tuple[str, ...] = ()
    traced_by: str = ""
    traced_s: float | None = None
    loops: bool = False

    def saved(self, share: float, samples: int) -> Part:
        """Return the part of the work that goes if eager operations take this share."""
        return Part.sampled(share, samples).without(pricing.Left(self.lower, self.upper))

    @property
    def evidence(self) -> tuple[Measurement, ...]:
        if self.operations is None:
            return ()
        return (Measurement("eager operations", self.operations, "count", self.traced_by),)


def left(
    evidence: Evidence,
    share: float,
    calls: float | None,
    otherwise: tuple[float, float],
    inside: float = 1.0,
    iterations: Bounds | None = None,
    repeated: float | None = None,
) -> Left:
    """``share``: of the work in eager operations; ``calls``: of what would be compiled, in an iteration or the
    stretch; ``otherwise``: (least, most) without a trace; ``inside``: the share of the eager time in what would be
    compiled, or in the loop whose iterations become one batch; ``iterations``: that become one, None where none do."""
    seen = traced(evidence) if evidence.work is not None else _of_steps(evidence)
    own = share * (evidence.step_ms or 0.0)
    rows = [row for row in seen.rows if row.where == "eager" and row.type not in _FILES] if seen is not None else []
    count = sum(row.count for row in rows)
    if seen is None or own <= 0 or count < MIN_OPERATIONS.value:
        lower, upper = otherwise
        return Left(1 - inside * (1 - lower), 1 - inside * (1 - upper))
    pieces = (
        evidence.work.seconds * MS_PER_S / (evidence.step_ms or math.inf) if evidence.work is not None else math.inf
    )
    ops = EagerOps.split(rows, seen.scale)
    traced_s: float | None = None
    loops = False
    if iterations is not None:
        estimate = batch_ops(ops, own, iterations, evidence.cpus)
    else:
        estimate, traced_s, loops = _compile(seen, ops, own, calls, max(pieces, 1.0), repeated)
    highest = min(estimate.upper / own, shared.MAX_STEP_SHARE.value)
    lower = min(estimate.lower / own, highest)
    types = Counter({row.type: row.count for row in rows if not row.type.startswith("_")})
    frequent = tuple(name for name, _ in types.most_common(3))
    ends = 1 - inside * (1 - lower), 1 - inside * (1 - highest)
    return Left(*ends, count * seen.scale, frequent, seen.by, traced_s, loops)


def _of_steps(evidence: Evidence) -> Traced | None:
    """The operations of the traced training steps."""
    ran = evidence.offer(RanOperations)
    if ran is None or not ran.steps:
        return None
    return Traced(ran.rows, 1 / ran.steps, evidence.offered_by(RanOperations))


def _compile(
    seen: Traced, ops: EagerOps, own: float, calls: float | None, pieces: float, repeated: float | None
) -> tuple[Bounds, float | None, bool]:
    """Return the ms that compiling leaves of ``own``, the seconds of tracing if they are notable, and whether the loops
    of the function should become loops of the graph. ``pieces``: iterations, or stretches as long as this one, in all
    of the work; of training steps there is no end."""
    rows = ops.rows
    operations = sum(row.count for row in rows) * seen.scale
    worth = operations / MIN_OPERATIONS.value  # calls, of a function of so many operations
    fewest, called = (
        (min(count, worth) for count in _calls(rows, seen)) if calls is None else (min(calls, worth), calls)
    )
    # Called so seldom it is its loops that repeat operations: these had better not be traced iteration by iteration.
    iterations = _calls(rows, seen)[1]
    loops = repeated is None and called * pieces < TRACED_MAX.value and iterations >= MIN_ITERATIONS.value * called
    once = max(repeated or fewest, 1 / pieces)
    tracing = trace_once(ops, own).times(1 / pieces / (iterations if loops else once))
    starts = Bounds(operations * costs.GRAPH_OP_MIN_MS.value, operations * costs.GRAPH_OP_MAX_MS.value)
    called_ms = Bounds(fewest * costs.FUNCTION_CALL_MIN_MS.value, called * costs.FUNCTION_CALL_MAX_MS.value)
    estimate = compile_ops(ops, ops.find_heavy_ms(), starts, called_ms, tracing)
    notable = tracing.middle >= TRACING_REPORTED.value * estimate.middle
    return estimate, tracing.middle * pieces / MS_PER_S if notable else None, loops


def _calls(rows: Sequence[RanOperation], seen: Traced) -> tuple[float, float]:
    """Estimate how often the code to compile runs, at least and at most, if no line was counted: as often as its rarest
    types of operations, which run once or a few times per call. Still rarer types are outside this code."""
    types = Counter[str]()
    for row in rows:
        types[row.type] += row.count
    fewest = max(types.total() / LONGEST_CALL.value, 1.0)
    counts = sorted(count for count in types.values() if count > fewest) or [1]
    return max(counts[0] * seen.scale, 1.0), max(counts[int(RARE_TYPES.value * len(counts))] * seen.scale, 1.0)
