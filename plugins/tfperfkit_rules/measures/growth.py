"""A model of the compiled step: the part that every step pays at any batch size, and the part that grows with the
batch.

Every operation is looked at by itself, by the time of one of its runs. Updates of weights don't grow. A product or a
convolution pays for dividing its work among threads, and for reading its weights once; its arithmetic grows, at best at
the rate that the machine reaches. Any other operation grows by its excess over a trivial operation. The runtime's work
between operations and the time around the compiled functions stay, unless a loop in the graph has an iteration for each
example (``tf.map_fn``): then the runtime's part grows with the iterations. A part of handing over a batch grows, at
most by the pipeline's work. Unexplained time (waiting for a CPU core) grows in proportion to the rest.
"""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit_probes.ops.model import OpsData

from tfperfkit.calibration import Chosen, Cited, Measured, Threshold
from tfperfkit.gain import MAX, middle
from tfperfkit.graph.optable import is_heavy
from tfperfkit.model import Measurement
from tfperfkit.offers import ComputedOperation, ComputedStep, RanOperations
from tfperfkit.pricing import costs
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.room import widened

DIVIDING_MS = Threshold(
    0.05,
    "ms",
    "maximum time of a matmul or convolution that does not depend on its size: dividing it among threads, laying "
    "out its operands",
    Measured(
        "a matmul of 32 rows by 100 x 512 took 0.05 to 0.09 ms, of which its arithmetic is 0.015", TWO_BUSY_CORES, 2
    ),
)
WEIGHT_BYTES = Threshold(
    4, "bytes", "size of a weight, which a matmul reads once whatever the batch", Cited("float32, Keras' default")
)

TRY = Threshold(32, "examples", "batch to try", Cited("Keras' default: Model.fit(batch_size=32)"))
SMALL = Threshold(
    16,
    "examples",
    "largest batch that counts as small",
    Chosen("half of the batch to try: else little is to be gained"),
)
INPUT_GROWS = Threshold(
    0.5,
    "share",
    "maximum share of handing over a batch that grows with the batch",
    Chosen("half: the call of the iterator stays as it is, the copy grows"),
)
MIN_STEPS = Threshold(
    200,
    "steps",
    "minimum number of steps: fewer are over soon either way",
    Chosen("seconds, at the milliseconds that such a step takes"),
)

_PRODUCTS = ("MatMul",)
#: Occasional time between steps, by chance: TensorFlow waits while it destroys an iterator.
_RARE = "waiting"


class Growth(NamedTuple):
    """ms of the mean clean step, and ``between_ms`` that pass between two: they go by epochs.

    ``grows``: the part that grows with the batch, at least and at most; ``update_ms``: in updates of weights;
    ``gaps_ms``: in compiled functions, between their operations; ``around_ms``: outside of compiled functions and of
    the input."""

    step_ms: float
    between_ms: float
    graph_ms: float
    update_ms: float
    gaps_ms: float
    around_ms: float
    input_ms: float
    grows: tuple[float, float]
    batch: int

    def gain(self, times: float) -> tuple[float, float]:
        """Examples a second with ``times`` the batch over now, at least and at most."""
        now = self.step_ms + self.between_ms
        lower, upper = (
            min(MAX, times * now / (now + (times - 1) * (grows + self.between_ms))) for grows in reversed(self.grows)
        )
        return widened((lower, upper))

    def middle(self, times: float) -> float:
        """The factor to tell for ``times`` the batch."""
        return middle(*self.gain(times))

    @property
    def fixed_share(self) -> float:
        """Return the share of the step (0 to 1) that does not grow, by the middle of the two bounds."""
        return 1 - (self.grows[0] + self.grows[1]) / 2 / self.step_ms

    def evidence(self) -> tuple[Measurement, ...]:
        """Return the measurements that support a finding."""
        return (
            Measurement("step", self.step_ms, "ms", "baseline"),
            Measurement("time that grows with the batch, at least", self.grows[0], "ms", "breakdown"),
            Measurement("time that grows with the batch, at most", self.grows[1], "ms", "breakdown"),
            Measurement("updating weights", self.update_ms, "ms", "breakdown"),
            Measurement("between the operations", self.gaps_ms, "ms", "breakdown"),
            Measurement("around the compiled step", self.around_ms, "ms", "breakdown"),
        )


def growth(evidence: Evidence) -> Growth | None:
    """None when the step was not traced, runs no compiled function, or has an accelerator."""
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or not account.mean_ms or evidence.work is not None or evidence.accelerated:
        return None
    graph = evidence.part("graph")
    batch = evidence.steps.batch_size or data.batch
    if graph <= 0 or data.ms <= 0 or not data.operations or batch <= 0:
        return None
    scale = min(1.0, graph / data.ms)
    tiny = tiny_of(data.operations)
    bounds = [_grows(row, tiny, batch, evidence) for row in data.operations if row.stage != "update"]
    handed = evidence.part("input")
    # Traces come with functions and shapes, not with steps: a longer run has no more traces. Validation and prediction
    # in callbacks are excluded from the step.
    step = account.mean_ms - evidence.part("other", "tracing", "evaluate")
    lower, upper = (scale * sum(each) for each in zip(*bounds, strict=True)) if bounds else (0.0, 0.0)
    gaps = scale * (data.idle_ms + data.waits_ms)
    if _repeat_for_each(evidence, batch):
        turning = shared.MOSTLY.value * gaps
        lower, upper, gaps = lower + turning, upper + gaps, gaps - turning
    update = scale * sum(row.ms for row in data.operations if row.stage == "update")
    return Growth(
        step_ms=step,
        between_ms=sum(took for kind, took in account.between_ms.items() if kind != _RARE),
        graph_ms=graph,
        update_ms=update,
        gaps_ms=gaps,
        around_ms=max(0.0, step - graph - handed),
        input_ms=handed,
        grows=(lower, min(upper + INPUT_GROWS.value * handed + fed_ms(evidence), step)),
        batch=batch,
    )


def _grows(row: ComputedOperation, tiny: float, batch: int, evidence: Evidence) -> tuple[float, float]:
    """ms of the step that grow with the batch, at least and at most."""
    each = row.busy_ms / row.runs if row.runs else 0.0
    if each <= tiny or row.ms <= 0:
        return 0.0, 0.0
    upper = 1 - tiny / each
    if not is_heavy(row.type):
        lower = max(0.0, 1 - costs.SMALL_OPERATION.value * tiny / each)
        if each < costs.DIVIDED_MS.value:  # on one thread yet
            lower /= max(1, evidence.cpus)
        return lower * row.ms, upper * row.ms
    each = row.ms / row.runs  # products run side by side wait for each other's threads
    flops = (row.flops or 0.0) / row.runs
    rate = (evidence.machine_gflops or 0.0) * 1e6 * costs.RATE_MIN.value
    arithmetic = min(flops / rate, each) if rate else 0.0
    if not any(part in row.type for part in _PRODUCTS):
        lower = max(each - DIVIDING_MS.value, arithmetic)
        return min(lower / each, upper) * row.ms, upper * row.ms
    # With few rows a product waits for its weights and its threads: with more it may reach the machine's rate.
    weights = WEIGHT_BYTES.value * flops / 2 / batch  # two FLOPs an example and weight
    stays = tiny + weights / costs.MEMORY_MAX_BYTES.value
    upper = max(each - stays, arithmetic) / each
    return min(arithmetic / each, upper) * row.ms, upper * row.ms


def _repeat_for_each(evidence: Evidence, batch: int) -> bool:
    """Whether a loop of a compiled function that ran has as many iterations as the batch has examples."""
    data = evidence.offer(OpsData)
    functions = [each for each in (data.all if data is not None else ()) if each.first_execution_ms is not None]
    return any(loop.turns == batch and loop.goes for each in functions for loop in each.marks.loops)


def fed_ms(evidence: Evidence) -> float:
    """ms of a step that the pipeline works for it, on processors that the step could use."""
    data = evidence.offer(RanOperations)
    rows = data.input if data is not None and data.steps else ()
    working = sum(row.self_ms for row in rows if "Iterator" not in row.type)
    return working / max(1, data.steps) if data is not None else 0.0


def tiny_of(rows: tuple[ComputedOperation, ...]) -> float:
    """Return the ms that a trivial operation of a compiled step takes."""
    return costs.find_tiny_ms(row.busy_ms / row.runs for row in rows if row.runs)
