"""GRF012: distances of all pairs are computed by way of all differences."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def pairs(evidence: Evidence) -> Iterator[Finding]:
    """GRF012, where the differences are only squared and summed."""
    for part in found(evidence, "pairs"):
        figures = part.waste.figures
        yield finding(
            evidence,
            part,
            codes.ALL_DIFFERENCES,
            f"{often(figures['differences'])} differences are made for {often(figures['distances'])} distances",
            "Expand the square: a product of matrices has the same sums. "
            "tf.reduce_sum(a * a, -1)[:, None] - 2 * tf.matmul(a, b, transpose_b=True) + "
            "tf.reduce_sum(b * b, -1)[None, :], with tf.maximum(..., 0) around it. For the nearest only, leave out "
            "what is the same for all: tf.reduce_sum(b * b, -1) - 2 * a @ b^T has its minimum at the same place.",
            "Each difference is written to memory, read, squared, written and read again. Of points that lie close "
            "together far from zero the expanded square loses digits: subtract their mean from both first.",
            count("differences", figures["differences"]),
            count("distances", figures["distances"]),
        )
