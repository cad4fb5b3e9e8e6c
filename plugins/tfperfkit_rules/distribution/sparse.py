"""DST001, DST002: sparse gradients that are gathered though the table is smaller, or made dense though it is larger.

The graph of the step shows its collectives, the rows that a replica looks up, and the size of the table. The share is
that of collectives, and of updates by rows.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.ops.model import Table

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.gain import Gain, Unknown
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.remedy import Remedy, ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.distribution.exchange import applied, exchanging, is_gather, of_numbers, replicas, size
from tfperfkit_rules.measures import shared

TITLES = {
    "DST001": "Sparse embedding gradients are all-gathered and exceed the table",
    "DST002": "Embedding gradient is all-reduced as large as its table",
}

GATHERED_TIMES = Threshold(
    2.0,
    "ratio",
    "minimum ratio of the bytes of gathered rows to those of the summed table, for gathering to be reported",
    Chosen("at twice the bytes the sum is cheaper, though making it dense takes a pass over the table"),
)
GATHER_SAVED_MIN = Threshold(
    0.5,
    "share",
    "minimum share of gathering rows and updating by them that a sum saves, if it is that much smaller",
    Measured("a step with a share of 0.42 went from 65.1 to 40.6 ms: 0.9 of it went", TWO_BUSY_CORES, 1),
)
ALL_TRAINED = Threshold(
    0.99,
    "share",
    "share of everything trained that is in the sums of a step, for the tables to be among it",
    Derived("the whole sum, but for rounding"),
)
DENSE_TIMES = Threshold(
    4.0,
    "ratio",
    "minimum ratio of the bytes of the summed table to those of gathered rows, for the sum to be reported",
    Chosen("rows come with indices and their count, and repeat; at four times that does not matter"),
)
DENSE_EXCHANGE_MIN = Threshold(
    0.5,
    "share",
    "minimum share of exchanging and updating whole tables that rows save",
    Measured("a step with a share of 0.39 went from 159 to 79 ms: 1.3 of it went", TWO_BUSY_CORES, 1),
)
INDEX_BYTES = Threshold(8, "bytes", "size of the index of a gathered row", Derived("a 64-bit integer"))

#: Operations by which an update puts rows into a table, or adds them up first.
_ROWS = ("ResourceScatter", "UnsortedSegmentSum", "Unique", "ResourceSparseApply")


def gathered_slices(evidence: Evidence) -> Iterator[Finding]:
    """DST001: each replica gets the rows of all, and these are more numbers than the table has."""
    unit = evidence.unit
    function = exchanging(evidence) if evidence.work is None else None
    if function is None:
        return
    gathers = [row for row in function.marks.exchanged if is_gather(row) and of_numbers(row)]
    tables = function.marks.tables
    if not gathers or not tables or sum(row.ops for row in gathers) < len(tables):
        return  # some tables are exchanged in another way, and nothing tells which
    count = replicas(gathers)
    rows, whole = count * sum(map(_rows_bytes, tables)), sum(_summed_bytes(table, count) for table in tables)
    if rows < GATHERED_TIMES.value * whole:
        return
    updates = _updates(evidence)
    share = evidence.share("collectives") + updates
    left = Left.exactly(whole / rows)
    gained = price(ReplaceOps("whole_gradient"), Part(GATHER_SAVED_MIN.value * share, share), left)
    yield _make_finding(
        evidence,
        "DST001",
        ReplaceOps("whole_gradient"),
        f"Sparse embedding gradients are all-gathered from {count} replicas and exceed the table: {size(rows)} "
        f"{unit.per}, instead of {size(whole)}",
        (share if share > 0 else 0.0, updates),
        gained if share > 0 else Unknown(),
        [*applied(evidence), gathers[0].where, *(table.where for table in tables)],
        (
            Measurement("replicas", float(count), "count", "run"),
            Measurement(f"size of the rows gathered by each replica {unit.per}", float(rows), "bytes", "run"),
            Measurement("size of the exchange as a sum of the table", float(whole), "bytes", "run"),
        ),
        "Make the gradients dense before apply_gradients, so that replicas sum them: "
        "gradients = [tf.convert_to_tensor(g) for g in gradients].",
        "A sparse gradient (tf.IndexedSlices) has a row for each lookup of the batch, repeated ones included. "
        "Strategies can't sum such gradients, so each replica receives the rows of all.",
    )


def made_dense(evidence: Evidence) -> Iterator[Finding]:
    """DST002: the gradient of a lookup, of few rows, is made as large as the table before it is exchanged."""
    unit = evidence.unit
    function = exchanging(evidence) if evidence.work is None else None
    if function is None or any(is_gather(row) and of_numbers(row) for row in function.marks.exchanged):
        return
    sums = [row for row in function.marks.exchanged if of_numbers(row) and row.bytes is not None]
    tables = [table for table in function.marks.tables if table.made_dense is not None]
    if not sums or not tables:
        return
    count = replicas(sums)
    sent = sum(row.bytes or 0.0 for row in sums)
    # All that is trained is summed, so the tables are.
    devices = max(row.devices for row in sums)
    if sent < ALL_TRAINED.value * function.parameter_bytes / devices:
        return
    rows, whole = count * sum(map(_rows_bytes, tables)), sum(_summed_bytes(table, count) for table in tables)
    if whole < DENSE_TIMES.value * rows:
        return
    part = sum(table.rows * table.width * table.number_bytes for table in tables) / sent
    updates = _updates(evidence)
    share = evidence.share("collectives") * min(part, 1.0) + updates
    gained = price(ReplaceOps("gradient_rows"), Part(DENSE_EXCHANGE_MIN.value * share, share))
    yield _make_finding(
        evidence,
        "DST002",
        ReplaceOps("gradient_rows"),
        f"Embedding gradient is all-reduced as large as its table: {size(whole)} {unit.per}, of which {count} replicas "
        f"need {size(rows)}",
        (share, updates),
        gained if share > 0 else Unknown(),
        [tables[0].made_dense, *(table.where for table in tables)],
        (
            Measurement("replicas", float(count), "count", "run"),
            Measurement(f"size of the exchanged tables {unit.per}", float(whole), "bytes", "run"),
            Measurement("size of the exchange as gathered rows", float(rows), "bytes", "run"),
        ),
        "Keep the sparse gradient (tf.IndexedSlices) for the optimizer: remove tf.convert_to_tensor and arithmetic on "
        "the gradient. Or: use tf.clip_by_global_norm, which keeps it sparse.",
        "A batch touches few rows of the table. Dense arithmetic on the gradient fills all other rows with zeros, "
        "which the replicas sum too.",
    )


def _rows_bytes(table: Table) -> float:
    return table.taken * (table.width * table.number_bytes + INDEX_BYTES.value)


def _summed_bytes(table: Table, count: int) -> float:
    """The bytes that each replica receives when a table is summed around a ring: twice all but its own part."""
    return 2 * (count - 1) / count * table.rows * table.width * table.number_bytes


def _updates(evidence: Evidence) -> float:
    """The share of the step in updates by rows."""
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or data.ms <= 0 or not account.mean_ms:
        return 0.0
    took = sum(row.ms for row in data.operations if row.stage == "update" and row.type.startswith(_ROWS))
    return min(1.0, evidence.part("graph") / data.ms) * took / account.mean_ms


def _make_finding(
    evidence: Evidence,
    code: str,
    remedy: Remedy,
    title: str,
    shares: tuple[float, float],
    gained: Gain,
    where: list[SourceSpan | None],
    measured: tuple[Measurement, ...],
    advice: str,
    detail: str,
) -> Finding:
    """``shares``: of the step in the exchange and in updates by rows together, and in these updates alone."""
    unit = evidence.unit
    share, updates = min(shares[0], shared.MAX_STEP_SHARE.value), shares[1]
    if share > 0:
        measured = (*measured, Measurement(f"share of {unit.the} in the exchange", share, "share", "breakdown"))
    return Finding(
        code=code,
        remedy=remedy,
        title=title,
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys(place for place in where if place is not None))[: shared.MAX_PLACES.value],
        evidence=measured,
        advice=advice,
        detail=detail,
        parts=("collectives", "graph") if updates > 0 else ("collectives",),
    )
