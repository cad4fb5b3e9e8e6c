"""GRF015: rows are repeated before a network, which then computes the same for each copy."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def repeats(evidence: Evidence) -> Iterator[Finding]:
    """GRF015, for what works row by row between the repetition and the first operation that does not."""
    for part in found(evidence, "repeats"):
        figures = part.waste.figures
        rows, times = figures["rows"], figures["times"]
        yield finding(
            evidence,
            part,
            codes.REPEATED_ROWS,
            f"Each of {often(rows)} rows goes through the same layers {often(times)} times",
            "Let the network see each row once, and repeat (tf.repeat, tf.tile, broadcasting) what comes out of it. "
            "For scores of all pairs no repetition is needed: tf.matmul(users, items, transpose_b=True) of what the "
            "two networks made.",
            "The copies of a row are equal, so are their results up to the first operation that joins them with "
            "something else. Nothing random is drawn between.",
            count("rows", rows),
            count("copies of each", times),
        )
