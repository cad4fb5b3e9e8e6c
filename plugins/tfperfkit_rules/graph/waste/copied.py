"""GRF019: a whole variable is copied to write a few rows."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often

_IN_PLACE = (
    "Write into the variable: v.scatter_nd_update(indices, rows) in place of "
    "v.assign(tf.tensor_scatter_nd_update(v, indices, rows)), with the same arguments; scatter_nd_add and "
    "scatter_nd_sub for sums, v.scatter_update(tf.IndexedSlices(rows, numbers)) for whole rows. A keras.Variable has "
    "them at its .value, the tf.Variable."
)
_RING = (
    "Leave the rows where they are and write over the oldest: places = (start + tf.range(n)) % size, "
    "queue.scatter_update(tf.IndexedSlices(rows, places)), start.assign((start + n) % size). The rows are the same, "
    "in another order; where the order matters, read them with tf.roll."
)


def copied(evidence: Evidence) -> Iterator[Finding]:
    """GRF019, by a scatter, or a queue's shift, of a variable's own value that is assigned back to it."""
    for part in found(evidence, "copied"):
        figures = part.waste.figures
        queue = bool(figures["queue"])
        # Single numbers here and there are no rows.
        what, whole, written = "rows", figures["rows"], figures["written"]
        if written < 1:
            what, whole, written = "numbers", figures["numbers"], figures["numbers_written"]
        yield finding(
            evidence,
            part,
            codes.COPIED_VARIABLE,
            f"{often(whole)} {what} of a variable are copied to write {often(written)}",
            _RING if queue else _IN_PLACE,
            "What tf.tensor_scatter_nd_update (or tf.where, tf.concat, tf.roll) makes is a tensor of its own, as large "
            "as the variable: all of it is read and written at each call, and the variable's memory is held twice "
            "meanwhile. A scatter method of the variable writes the rows that are named, and nothing else.",
            count("bytes of the variable", figures["bytes"], "bytes"),
            count(f"{what} of it", whole),
            count(f"{what} that are written", written),
            remedy=ReplaceOps("in_place"),
        )
