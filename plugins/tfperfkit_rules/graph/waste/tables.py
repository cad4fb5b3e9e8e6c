"""GRF014: all rows of a table are computed, and few of them are looked up."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def tables(evidence: Evidence) -> Iterator[Finding]:
    """GRF014, where each row is computed by itself and nothing but lookups uses the result."""
    for part in found(evidence, "table"):
        figures = part.waste.figures
        rows, taken = figures["rows"], figures["taken"]
        yield finding(
            evidence,
            part,
            codes.WHOLE_TABLE,
            f"{often(rows)} rows are computed, of which {often(taken)} are looked up",
            "Look up first: tf.gather(table, ids), or the slice of the table, then compute with these rows (normalise, "
            "project, activate). Each row is computed by itself, so the results are the same. The gradient of the "
            "table then is of the rows that were looked up, not of all.",
            "Of the rows that no index names, all of that is thrown away, forward and backward, in every call.",
            count("rows computed", rows),
            count("rows looked up", taken),
        )
