"""GRF015: rows are repeated, or pictures enlarged, before layers that then compute the same for each copy."""

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
        which = {0: "Each row", 1: "One row"}.get(round(rows), f"Each of {often(rows)} rows")
        yield finding(
            evidence,
            part,
            codes.REPEATED_ROWS,
            f"{which} goes through the same layers {often(times)} times",
            "Let the network see each row once, and repeat (tf.repeat, tf.tile, broadcasting) what comes out of it. "
            "For scores of all pairs no repetition is needed: tf.matmul(users, items, transpose_b=True) of what the "
            "two networks made.",
            "The copies of a row are equal, so are their results up to the first operation that joins them with "
            "something else. Nothing random is drawn between.",
            *([count("rows", rows)] if rows else []),
            count("copies of each", times),
        )


def enlarged(evidence: Evidence) -> Iterator[Finding]:
    """GRF015, for convolutions of single places after a picture was made larger."""
    for part in found(evidence, "resized"):
        figures = part.waste.figures
        times = figures["times"]
        yield finding(
            evidence,
            part,
            codes.REPEATED_ROWS,
            f"Pictures are enlarged to {often(times)} times as many places before a 1 x 1 convolution",
            "Put the 1 x 1 convolution first, and enlarge what comes out of it (activations that stand after the "
            "convolution stay after both).",
            "Each new place is a mean of old ones, or one of them, and the convolution takes each place alone: in "
            "either order the numbers are the same, up to rounding. Put first, it has few places to work on, and "
            "fewer channels are enlarged.",
            count("times as many places", times),
            count("channels before the convolution", figures["before"]),
            count("channels after it", figures["after"]),
        )
