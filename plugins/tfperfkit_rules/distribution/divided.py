"""DST005: replicas divide a batch, so that each one gets few examples.

The strategy's iterator shows what a replica gets, and the graph's collectives how many there are. The gain is for
examples per second: what does not grow with the batch is modelled from the trace.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.gain import Unknown
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, price
from tfperfkit.remedy import BatchSize
from tfperfkit.rule import Evidence
from tfperfkit_rules.distribution.exchange import exchanging, replicas
from tfperfkit_rules.measures.batch_places import batch_of, size_places
from tfperfkit_rules.measures.growth import MIN_STEPS, SMALL, Growth, growth
from tfperfkit_rules.measures.written_sizes import find_batch_sizes

TITLES = {"DST005": "Batch is too small to divide among the replicas"}

DIVIDED_MIN_GAIN = Threshold(
    1.3,
    "number",
    "minimum gain in examples per second for a batch that replicas divide to be reported",
    Chosen("a larger batch changes the training: a smaller gain is no fault and is listed as headroom"),
)


def divided_batch(evidence: Evidence) -> Iterator[Finding]:
    """Find a batch that is small for each replica: its size from the steps' iterator, the number of replicas from the
    exchange in the graph.

    The part of the step that does not grow with the batch (the exchange, updating, starting operations) is modelled
    from the trace; without the profiler there is no factor.
    """
    unit = evidence.unit
    function = exchanging(evidence) if evidence.work is None else None
    batch = batch_of(evidence) if function is not None else 0
    if function is None or batch <= 0:
        return
    rows = function.marks.exchanged
    count, here = replicas(rows), max(row.devices for row in rows)
    each, whole = batch // here, batch // here * count
    if count < 2 or each <= 0:
        return
    written = any(row.literal or row.constant for row in find_batch_sizes(evidence, whole))
    found = growth(evidence)
    if not (written or each <= SMALL.value) or not _worth(evidence, found, each, count):
        return
    places = size_places(evidence, whole)
    left = Left.faster(*found.gain(count)) if found is not None else None
    gained = price(BatchSize("training"), left=left) if left is not None else Unknown()
    yield Finding(
        code="DST005",
        remedy=BatchSize("training", count),
        title=f"Batch of {whole} is too small to divide among {count} replicas: {each} each",
        share_of_step=max(0.0, min(found.fixed_share, 1.0)) if found is not None else 0.0,
        gain=gained,
        where=places,
        evidence=(
            Measurement("replicas", float(count), "count", "run"),
            Measurement("examples per batch", float(whole), "count", "run"),
            Measurement("examples per replica", float(each), "count", "run"),
            Measurement("examples per batch to try", float(whole * count), "count", "advice"),
            *(found.evidence() if found is not None else ()),
        ),
        advice=(
            f"Scale the batch with the replicas: {whole} * strategy.num_replicas_in_sync. Raise the learning rate "
            "with it (in proportion, or by the square root for Adam), and watch the loss."
        ),
        detail=(
            f"The fixed cost of {unit.a} (exchange, updates, starting operations) is paid for few examples in each "
            "replica. The factor is for examples per second."
        ),
        absorbs=("BAT001", "BAT002"),
        parts=("graph", "dispatch", "collectives"),
    )


def _worth(evidence: Evidence, found: Growth | None, each: int, count: int) -> bool:
    """Whether a larger batch gains much; where nothing was traced, whether hardly anything is in one."""
    if evidence.steps.count < MIN_STEPS.value:
        return False
    if found is None:
        return each <= SMALL.value
    return found.gain(count)[0] >= DIVIDED_MIN_GAIN.value
