"""Time of eager operations once they are compiled (``Compile``), or once all iterations of a loop are one
(``BatchLoop``), from the operations that a trace measured.

The work of the kernels remains, beyond the time of a kernel on a negligible input. Everything around a kernel goes:
finding it, checking its inputs, recording them for a tape, creating result objects, and the Python of TensorFlow and
Keras. A call of a compiled function is added, and the overhead of the graph's runtime for each operation. A graph also
omits gradients that nobody uses, and runs independent operations in parallel.

Each of these terms has a lower and an upper bound. Their errors are independent, so the range of the sum adds them by
squares, not all at their worst.

All times are ms of the mean clean step, or of an iteration of a work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.offers import RanOperation
from tfperfkit.pricing import costs
from tfperfkit.pricing.bounds import Bounds, add_independent
from tfperfkit.pricing.machines import MEASURED_ON, TWO_BUSY_CORES

AGAIN = Threshold(
    1.1,
    "number",
    "factor by which a compiled step differs between runs, in addition to what the model does not know",
    Chosen("runs of one script differ by as much on a shared machine, see MIN_HEADROOM"),
)
LIGHT_SIDE_BY_SIDE = Threshold(
    0.5,
    "share",
    "minimum share of elementwise work in eager kernels that remains in a graph, where it runs next to other work",
    Derived("two threads run side by side what one ran in sequence; without XLA hardly anything is fused"),
)
SHORT_MS = Threshold(
    1.0,
    "ms",
    "minimum time of a heavy operation: shorter ones spend much of their time on waking threads",
    Chosen("ten times DIVIDED_MS, the shortest operation that is divided"),
)
SHORT_LEFT = Threshold(
    0.5,
    "share",
    "minimum share of such short operations that remains in a graph",
    Chosen("work and waking take equally long then"),
)
OVERLAP_ONE = Threshold(
    1.15,
    "number",
    "maximum speed-up of heavy operations of one chain in a graph, from running next to others",
    Chosen("only the gradients of weights can: one of three matmuls, in part"),
)
OVERLAP_MANY = Threshold(
    1.6,
    "number",
    "maximum speed-up of the updates of two networks, if there are cores for both",
    Measured("1.2 to 1.7 for two independent chains of convolutions", MEASURED_ON, 5, "overlap"),
)
HEAVY_LEFT = Threshold(
    0.3,
    "share",
    "minimum share of heavy work that remains after pruning",
    Chosen("the forward pass, one of three matmuls of the same size, is always needed"),
)
FIRST_INPUT = Threshold(
    0.5,
    "share",
    "maximum share of the backward work that is the gradient of a network's input",
    Chosen("one of two matmuls of the same size"),
)
TRACED_MIN = Threshold(
    5.0,
    "number",
    "minimum time to trace and first run a function, in runs operation by operation without the work of their kernels",
    Measured(
        "26 loops of benchmarks/eager_loops: 4.9 at the 10th percentile, median 9.3, 25 at the 80th; beyond that steps "
        "of 3 ms and graphs that unroll a loop",
        TWO_BUSY_CORES,
        26,
    ),
)
TRACED_MAX = Threshold(
    25.0,
    "number",
    "maximum time to trace and first run a function, in runs operation by operation without the work of their kernels",
    Measured("see TRACED_MIN", TWO_BUSY_CORES, 26),
)
BATCH_MADE = Threshold(
    2.0,
    "number",
    "maximum cost of making one batch and dispatching its operations, in iterations without the work of their kernels",
    Chosen("the same operations once more, on more data, and joining and splitting the iterations"),
)
BATCHED_LEFT_MIN = Threshold(
    0.25,
    "share",
    "minimum share of a convolution of one example, beyond the cost of a minimal operation, that it takes as one "
    "of many",
    Measured("of 100 at once: six convolutions 0.27 to 0.58 each", TWO_BUSY_CORES, 5),
)
PRODUCTS_LEFT_MIN = Threshold(
    0.01,
    "share",
    "minimum share of a matmul of one example, beyond the cost of a minimal operation, that it takes as one of many",
    Measured("100 at once: products of 32 to 1,024 numbers with a matrix 0.01 to 0.11 each", TWO_BUSY_CORES, 5),
)
LIGHT_BATCHED_MAX = Threshold(
    2.0,
    "number",
    "maximum ratio of elementwise work of one example among many to the same alone: alone its numbers stay in the "
    "cache, many go to memory, on new pages",
    Measured(
        "of 100 at once: tanh and sums of 147,456 numbers 0.54 to 2.3, of 16,384 0.26 to 0.61, of fewer 0.01 to 0.06",
        TWO_BUSY_CORES,
        5,
    ),
)

#: Operations that a compiled step still computes, even if others are fused or reordered around them.
_HEAVY = optable.names(trait="heavy") | optable.names(kind=("sort", "decomposition", "solve", "fft"))
#: These do no work of their own, however long the runtime takes over them.
_FREE = optable.names(trait="instant")
#: Of one example alone these have too little work for threads, or read a matrix for one row.
_CONVOLUTION = "Conv"
_PRODUCTS = ("MatMul", "Einsum")


class EagerOps(NamedTuple):
    """Operations that ran eagerly: ``rows``. ``heavy``: the matmuls, convolutions and the like. ``light``: other
    work. ``tiny_ms``: traced ms of an operation on a negligible input. ``scale``: ms of a step or an iteration for each
    traced one."""

    rows: Sequence[RanOperation]
    heavy: list[RanOperation]
    light: list[RanOperation]
    tiny_ms: float
    scale: float

    @classmethod
    def split(cls, rows: Sequence[RanOperation], scale: float) -> EagerOps:
        """Divide operations into heavy and light ones; others do no work."""
        heavy = [row for row in rows if row.type in _HEAVY]
        light = [row for row in rows if row.type not in _HEAVY and row.type not in _FREE]
        return cls(rows, heavy, light, _find_tiny_ms(rows), scale)

    @property
    def heavy_ms(self) -> float:
        """Return the work of the heavy operations."""
        return self.scale * _add_work(self.heavy, self.tiny_ms)

    @property
    def small_ms(self) -> float:
        """Return the longest time of a small operation: its threads and caches are no work."""
        return costs.SMALL_OPERATION.value * self.tiny_ms

    def find_light_ms(self) -> Bounds:
        """Return the elementwise work, at best next to other work."""
        lower = LIGHT_SIDE_BY_SIDE.value * self.scale * _add_work(self.light, self.small_ms)
        return Bounds(lower, self.scale * _add_work(self.light, self.tiny_ms))

    def find_heavy_ms(self) -> Bounds:
        """Return the heavy work of a function that is compiled."""
        return Bounds(self.scale * _add_work(self.heavy, self.small_ms), self.heavy_ms)

    def find_step_ms(self, updates: int, steps: int, cpus: int) -> Bounds:
        """Return the heavy work of a training step with so many ``updates`` that is compiled, of ``steps`` traced ones.
        At best nothing is computed that nobody uses, and operations run next to each other on threads that wait."""
        whole = _leave_waking_out(self.heavy, self.small_ms)
        needed = max(whole - self._find_unused_ms(updates, steps), HEAVY_LEFT.value * whole)
        overlap = OVERLAP_MANY.value if updates > 1 else OVERLAP_ONE.value
        return Bounds(self.scale * needed / (overlap if cpus > 1 else 1.0), self.heavy_ms)

    def _find_unused_ms(self, updates: int, steps: int) -> float:
        """Return the traced ms whose result nobody uses: a tape also computes the gradients of the first layer's
        input, and with several updates those of the other networks' weights. A graph omits them."""
        backward = [row for row in self.heavy if "Backprop" in row.type or "Grad" in row.type]
        inputs = [row for row in backward if "Input" in row.type and row.count]
        first = sum(_add_work([row], self.small_ms) / row.count * steps for row in inputs)
        whole = _add_work(backward, self.small_ms)
        return max(whole * (updates - 1) / updates, min(first, FIRST_INPUT.value * whole))


def compile_ops(ops: EagerOps, heavy: Bounds, starts: Bounds, *others: Bounds) -> Bounds:
    """Return the ms of these operations in a compiled function. ``starts``: calling it and starting its operations.
    ``others``: further terms."""
    return add_independent((starts, *others, heavy, ops.find_light_ms())).within(AGAIN.value)


def trace_once(ops: EagerOps, own_ms: float) -> Bounds:
    """Return the ms of tracing and first running a function whose operations take ``own_ms`` in each call."""
    dispatched = max(own_ms - ops.heavy_ms, 0.0)
    return Bounds(TRACED_MIN.value * dispatched, TRACED_MAX.value * dispatched)


def batch_ops(ops: EagerOps, own_ms: float, iterations: Bounds, cpus: int) -> Bounds:
    """Return the ms that are left of ``own_ms`` when all iterations of a loop become one: each operation is dispatched
    once, and its kernel does the work of all iterations, on as many CPU cores as it finds."""
    convolutions = [row for row in ops.heavy if _CONVOLUTION in row.type]
    products = [row for row in ops.heavy if any(part in row.type for part in _PRODUCTS)]
    rest = [row for row in ops.heavy if row not in convolutions and row not in products]
    least = (
        BATCHED_LEFT_MIN.value * _add_work(convolutions, ops.small_ms)
        + PRODUCTS_LEFT_MIN.value * _add_work(products, ops.small_ms)
        + _leave_waking_out(rest, ops.small_ms) / cpus
    )
    heavy = Bounds(ops.scale * least, ops.heavy_ms)
    light = Bounds(
        _add_work(ops.light, ops.small_ms) / cpus, LIGHT_BATCHED_MAX.value * _add_work(ops.light, ops.tiny_ms)
    )
    light = light.times(ops.scale)
    dispatched = max(own_ms - heavy.upper - light.upper, 0.0)
    once = Bounds(dispatched / iterations.upper, dispatched / iterations.lower * BATCH_MADE.value)
    return add_independent((once, heavy, light)).within(AGAIN.value)


def _leave_waking_out(rows: Sequence[RanOperation], small_ms: float) -> float:
    """Return the ms of work without the time that short operations spend on waking threads."""
    short = [row for row in rows if row.self_ms < SHORT_MS.value * row.count]
    return _add_work(rows, small_ms) - (1 - SHORT_LEFT.value) * _add_work(short, small_ms)


def _find_tiny_ms(rows: Sequence[RanOperation]) -> float:
    """Return the ms of an operation on a negligible input: the lower quartile over all that ran, by type."""
    light = sorted((_took(row) / row.count, row.count) for row in rows if row.count and row.type not in _HEAVY)
    whole, seen = sum(count for _, count in light), 0
    for each, count in light:
        seen += count
        if seen >= costs.TINY_OPERATIONS.value * whole:
            return each
    return 0.0


def _took(row: RanOperation) -> float:
    """Return the ms in the kernels, undisturbed; in the operations if the trace doesn't tell."""
    return row.self_ms if row.kernel_ms is None else row.kernel_ms


def _add_work(rows: Sequence[RanOperation], least_ms: float) -> float:
    """Add up the ms of operations beyond ``least_ms`` each."""
    return sum(max(0.0, _took(row) - row.count * least_ms) for row in rows)
