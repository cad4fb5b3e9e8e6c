"""GRF038: a compiled function computes a whole matrix, and uses only its diagonal."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph.diagonals import find_diagonals
from tfperfkit.graph.products import product_of
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

DIAGONAL_MIN = Threshold(
    16, "rows", "minimum size of a matrix whose diagonal is used: a smaller one takes no time", Chosen("a cache line")
)
_PRODUCT = (
    "For a matmul: replace tf.linalg.diag_part(tf.matmul(a, b)) with tf.reduce_sum(a * tf.transpose(b), axis=-1)."
)
_PAIRS = (
    "For a kernel or another function of all pairs of rows: compute it for each row with itself, f(x, x), on tensors "
    "of one row for each number of the diagonal."
)


class WholeMatrix(Cause, frozen=True, kw_only=True):
    """``size``: of the diagonal. ``alone``: the matrix is a product, whose diagonal is taken at once."""

    size: int
    alone: bool


class DiagonalOfMatrix(GraphRule[WholeMatrix]):
    """Finds the operations of whose results only the diagonal reaches anything, back from what takes the diagonal."""

    code = "GRF038"
    title = "Whole matrix computed where its diagonal is enough"

    def find(self, view: View) -> Iterator[WholeMatrix]:
        """Yield a cause for each operation that takes a diagonal."""
        for each in find_diagonals(view):
            if each.size >= DIAGONAL_MIN.value:
                lines = [node.place for node in (each.reads, *each.made) if node.place is not None]
                yield WholeMatrix(
                    where=lines[0] if lines else None,
                    places=list(dict.fromkeys(lines)),
                    operations=[each.reads.name, *(node.name for node in each.made)],
                    left=1 / each.size,
                    size=each.size,
                    alone=len(each.made) == 1 and product_of(view, each.made[0]) is not None,
                )

    def report(self, evidence: Evidence, part: Part[WholeMatrix]) -> Finding:
        """Advise to compute the diagonal alone."""
        size = part.cause.size
        return self.finding(
            evidence,
            part,
            f"{often(size)} x {often(size)} matrix computed for its diagonal",
            f"Compute the diagonal directly. {_PRODUCT if part.cause.alone else f'{_PAIRS} {_PRODUCT}'}",
            "Nothing but the diagonal of these results is used. Off the diagonal, each number is computed and thrown "
            f"away: {often(size - 1)} of {often(size)} in each row.",
            count("rows of the matrix", size),
        )
