"""GRF020: a whole jacobian is computed, and only the blocks on its diagonal are used."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def diagonals(evidence: Evidence) -> Iterator[Finding]:
    """GRF020, by what takes a diagonal of what came of one gradient for each number, or adds all of it up."""
    for part in found(evidence, "diagonal"):
        examples, zeros = part.waste.figures["examples"], bool(part.waste.figures.get("zeros"))
        used = "though only its diagonal is not zero" if zeros else "for its diagonal"
        yield finding(
            evidence,
            part,
            codes.JACOBIAN_DIAGONAL,
            f"A jacobian of {often(examples)} by {often(examples)} examples is computed {used}",
            "Where each example has one result, the gradient of their sum has the same rows: "
            "tape.gradient(tf.reduce_sum(scores), inputs). Where it has several, tape.batch_jacobian(results, inputs) "
            "computes the blocks of the diagonal alone.",
            f"Each of the {often(examples)} gradients goes back through all examples, though all but one of them don't "
            f"depend on it: these blocks are zero. {_SUM if zeros else _MIXED}",
            count("examples", examples),
        )


_SUM = "Their sum, and that of their squares, is that of the diagonal's."
_MIXED = (
    "A network that mixes examples (batch normalisation in training, attention over the batch) has others, which the "
    "diagonal leaves out as well."
)
