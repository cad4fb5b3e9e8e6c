"""GRF013: all is sorted in a compiled step, and only the first few, or the last few, are used."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def sorts(evidence: Evidence) -> Iterator[Finding]:
    """GRF013, by slices with fixed bounds of what was sorted."""
    for part in found(evidence, "sort"):
        figures = part.waste.figures
        whole, used = figures["all"], figures["used"]
        one = used == 1
        yield finding(
            evidence,
            part,
            codes.WHOLE_SORT,
            f"{often(whole)} numbers are sorted, of which {often(used)} {'is' if one else 'are'} used",
            (
                "Take the largest only: tf.reduce_max, or tf.argmax for its place (tf.reduce_min and tf.argmin for the "
                "smallest)."
                if one
                else f"Take them without sorting the rest: tf.math.top_k(x, k={round(used)}) gives values and places "
                "of the largest along the last axis; for the smallest -tf.math.top_k(-x, k).values."
            ),
            "What is sorted goes into slices with fixed bounds and nowhere else. The gradient of a sort scatters all "
            "numbers back to their places; that of top_k the few.",
            count("numbers in a row", whole),
            count("of them used", used),
            count("rows", figures["rows"]),
        )
