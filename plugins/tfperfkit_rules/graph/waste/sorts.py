"""GRF013 and GRF026: all is sorted, or shuffled, in a compiled step, and only the first or last few are used."""

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


def shuffles(evidence: Evidence) -> Iterator[Finding]:
    """GRF026, by slices with fixed bounds of what was shuffled."""
    for part in found(evidence, "shuffle"):
        whole, used = part.waste.figures["all"], part.waste.figures["used"]
        yield finding(
            evidence,
            part,
            codes.WHOLE_SHUFFLE,
            f"{often(whole)} rows are shuffled, of which {often(used)} {'is' if used == 1 else 'are'} used",
            f"Draw their places: tf.random.uniform([{round(used)}], maxval={round(whole)}, dtype=tf.int64), and "
            "tf.gather these rows. One may come twice; where that must not be, draw without putting back: "
            f"tf.math.top_k(tf.random.uniform([{round(whole)}]), k={round(used)}).indices, with a number for each row.",
            "What is shuffled goes into slices with fixed bounds and nowhere else.",
            count("rows shuffled", whole),
            count("of them used", used),
        )
