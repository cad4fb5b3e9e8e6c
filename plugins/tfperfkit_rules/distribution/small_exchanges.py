"""DST003: many small collective operations where one would do.

The graph shows collective operations of one line that do not need each other's results.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.gain import Unknown
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.distribution.exchange import applied, exchanging, replicas, size
from tfperfkit_rules.measures import shared

TITLES = {"DST003": "Replicas all-reduce many small tensors one by one"}

MANY_EXCHANGES = Threshold(
    8,
    "number",
    "minimum number of independent collective operations",
    Chosen("a step exchanges a handful of values anyway: a loss and metrics"),
)
SMALL_EXCHANGE = Threshold(
    1 << 20,
    "bytes",
    "largest collective operation that is limited by starting it, not by its bytes",
    Derived("0.1 ms at 10 GB/s, a few times what starting an exchange takes"),
)
PACKED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of small collective operations that packing them saves",
    Measured(
        "a step with a share of 0.13 went from 208 to 61 ms: more than the whole share, since operations also wait "
        "for the exchange",
        TWO_BUSY_CORES,
        1,
    ),
)


def small_exchanges(evidence: Evidence) -> Iterator[Finding]:
    """Find operations of one line in the graph that are independent and could be one exchange. Those that do,
    the statistics of batch normalisation over all replicas say, are needed one by one."""
    unit = evidence.unit
    function = exchanging(evidence) if evidence.work is None else None
    if function is None:
        return
    rows = [row for row in function.marks.exchanged if row.bytes is not None]
    total = sum(row.bytes or 0.0 for row in rows)
    row = max(rows, key=lambda each: each.ops - each.rounds, default=None)
    if row is None or row.bytes is None or row.ops < MANY_EXCHANGES.value * row.rounds:
        return
    each = row.bytes / row.ops
    if each > SMALL_EXCHANGE.value:
        return
    whole = evidence.share("collectives")
    packed = (row.ops - row.rounds) / sum(other.ops for other in function.marks.exchanged)
    share = min(whole * packed, 1.0)
    lower = PACKED_MIN.value * share
    measured = [
        Measurement(f"collective operations {unit.per}", row.ops, "count", "run"),
        Measurement("size of one collective operation", each, "bytes", "run"),
        Measurement("size of all collective operations", total, "bytes", "run"),
        Measurement("replicas", float(replicas(rows)), "count", "run"),
    ]
    if share:
        measured.append(Measurement(f"share of {unit.the} in the exchange", whole, "share", "breakdown"))
    yield Finding(
        code="DST003",
        title=f"Replicas all-reduce {row.ops:,.0f} small tensors ({size(each)}) one by one in {unit.a}",
        share_of_step=share,
        gain=price(Rewrite(), Part(lower, share)) if share else Unknown(),
        where=tuple(dict.fromkeys(place for place in (*_by_hand(evidence), row.where, *applied(evidence)) if place)),
        evidence=tuple(measured),
        advice=(
            'Reduce all gradients in one call: context.all_reduce("SUM", gradients) with the list, or one '
            "optimizer.apply_gradients for all of them. Or: leave bytes_per_pack of "
            "tf.distribute.CommunicationOptions at 0, or set it to some MB."
        ),
        detail="In each exchange all replicas wait for one another, however small the tensor. None of these exchanges "
        "needs another's result.",
        parts=("collectives",),
    )


def _by_hand(evidence: Evidence) -> list[SourceSpan]:
    """Return the user's calls that sum over all replicas."""
    return evidence.calls("tensorflow.distribute.get_replica_context().all_reduce")[: shared.MAX_PLACES.value]
