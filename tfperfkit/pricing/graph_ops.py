"""Time that goes with operations of compiled functions (``ReplaceOps``, ``Remove``), and what replaces them.

Work next to the operations stays. The replacement reaches the machine's rates within a factor.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.pricing.costs import find_work_ms
from tfperfkit.pricing.facts import Left
from tfperfkit.pricing.machines import TWO_BUSY_CORES

WASTE_SAVED_MIN = Threshold(
    0.85,
    "share",
    "minimum part of the expected saving that is saved, since operations ran in parallel with others",
    Measured(
        "in 12 of 13 pairs of runs 0.83 to 1.36 of the operations' share of the step went, in one 1.8: on a busy "
        "machine mostly more than the share, for the rest of the step waits less",
        TWO_BUSY_CORES,
        13,
    ),
)
BEYOND_CACHE = Threshold(
    32e6,
    "bytes",
    "minimum size that an operation reads and writes to evict all other data from the caches",
    Chosen("last levels of desktop and server processors hold 8 to 64 MB, shared by all cores"),
)
REST_LEFT_MIN = Threshold(
    0.5,
    "share",
    "minimum share of the rest of a step that remains when such operations go, and their memory with them",
    Measured(
        "0.51 to 2.1 (10th to 90th percentile), median 0.80: elementwise work, a dense layer and an update on 1 MB "
        "each, behind operations that move 128 and 256 MB, at a load of 15",
        TWO_BUSY_CORES,
        72,
        "behind_memory",
    ),
)
WITH_GRADIENT = Threshold(
    3,
    "number",
    "times the forward arithmetic, forward and backward",
    Derived("a product's gradient is two products of its size, one for each operand"),
)
WASTE_LEFT_MIN = Threshold(
    0.5, "number", "minimum ratio of the work that remains to the work that should remain", Chosen("half")
)
WASTE_LEFT_MAX = Threshold(
    2.0,
    "number",
    "maximum ratio of the work that remains to the work that should remain: smaller operations run at a lower rate",
    Chosen("twice"),
)
USUAL_GFLOPS = Threshold(
    50.0,
    "GFLOP/s",
    "assumed rate of a float32 matmul, if the machine was not measured",
    Chosen("a core of this decade"),
)


def find_freed_share(rows: Sequence[ComputedOperation]) -> float:
    """Return the share of the rest of a step that goes with these operations at best: it gets its caches back, if one
    of them evicts all else."""
    large = any((row.bytes or 0.0) >= BEYOND_CACHE.value * row.runs > 0 for row in rows)
    return 1 - REST_LEFT_MIN.value if large else 0.0


def find_left(
    took_ms: float, known: float | None, flops: float, moved: float, gflops: float | None, *, with_gradient: bool
) -> Left:
    """Return the part of ``took_ms`` that stays: about ``known`` (0 to 1), or what a replacement of so many FLOPs and
    bytes takes.

    ``gflops``: the rate of a float32 matmul on this machine; None if it was not measured.
    """
    if known is not None:
        return Left(known * WASTE_LEFT_MIN.value, min(1.0, known * WASTE_LEFT_MAX.value))
    work = find_work_ms(gflops or USUAL_GFLOPS.value, flops, moved)
    best, worst = work.times(WITH_GRADIENT.value if with_gradient else 1.0)
    return Left(min(1.0, best / took_ms), min(1.0, worst / took_ms))


def find_saved_ms(step: ComputedStep, rows: Sequence[ComputedOperation]) -> float:
    """Return the ms that go with these operations.

    Work in parallel with them takes as long as before if nothing can fill the gap: it uses as many threads as it does
    elsewhere.
    """
    took = sum(row.ms for row in rows)
    beside = {id(row): row.ms - row.alone_ms if row.alone_ms is not None else 0.0 for row in step.operations}
    every, mine = sum(beside.values()), sum(beside[id(row)] for row in rows)
    if every <= 0 or mine <= 0:
        return took
    # The record doesn't keep which operations overlap: the overlap is divided by each operation's part in all overlaps.
    others = [(beside[id(row)], every - beside[id(row)]) for row in rows]
    mixed = max(0.0, mine - sum(each * (mine - each) / rest for each, rest in others if rest > 0))
    wide = sum(row.busy_ms - row.ms for row in step.operations) / every + 1
    kept_ms = sum(row.ms for row in step.operations) - took
    kept_busy = sum(row.busy_ms for row in step.operations) - sum(row.busy_ms for row in rows)
    with_them = (wide - 1) * mixed
    without = kept_ms - with_them
    if without <= 0:
        return took - mixed
    width = (kept_busy - wide * with_them) / without
    left = kept_busy / width if width >= 1 else kept_ms + mixed
    return max(took - mixed, min(took, took + kept_ms - left))
