"""GRF019: a gradient of few rows becomes a whole table, to be added to a variable."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def dense_sums(evidence: Evidence) -> Iterator[Finding]:
    """GRF019, by a sum of rows into zeros of the variable's size that is then added to it, or taken away."""
    for part in found(evidence, "dense_sum"):
        figures = part.waste.figures
        rows, written = figures["rows"], figures["written"]
        yield finding(
            evidence,
            part,
            codes.COPIED_VARIABLE,
            f"{often(written)} rows of a gradient become a table of {often(rows)}, all of which is added to a variable",
            "Add the rows that it names alone: where isinstance(g, tf.IndexedSlices), as the gradient of a lookup is, "
            "total.scatter_add(g) in place of total.assign_add(tf.convert_to_tensor(g)); scatter_sub to take them "
            "away, and tf.IndexedSlices(rate * g.values, g.indices) where it is multiplied, for tf.multiply makes it a "
            "table too. A keras.Variable has them at its .value, the tf.Variable.",
            "The table is filled with zeros and written, then read, and all of the variable read and written, for each "
            "batch. What sets such a sum back to zero still goes over all rows, but once for many batches.",
            count("rows of the table", rows),
            count("rows that are named", written),
            count("bytes of the table", figures["bytes"], "bytes"),
            remedy=ReplaceOps("in_place"),
        )
