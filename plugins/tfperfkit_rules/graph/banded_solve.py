"""GRF036: a dense solution with a matrix that the graph builds from a few diagonals, or that is triangular."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.graph.bands import Band, Banded, find_band
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.factorising import MIN_MATRIX, columns_of, solving
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

TRIDIAGONAL_FLOPS = Threshold(
    9,
    "FLOPs",
    "arithmetic of a tridiagonal solution, for each row and each column of the right side and the matrix",
    Derived("elimination with pivots and back substitution; Golub and Van Loan, Matrix Computations, chapter 4.3"),
)
_SOLVES = frozenset({"MatrixSolve", "BatchMatrixSolve"})
_DIAGONAL, _TRIDIAGONAL, _LOWER, _UPPER = "diagonal", "tridiagonal", "lower triangular", "upper triangular"
_ADVICE = {
    _DIAGONAL: "Divide by the diagonal: x = right / diagonal[:, None] instead of "
    "tf.linalg.solve(tf.linalg.diag(diagonal), right).",
    _TRIDIAGONAL: "Pass the three diagonals, without building the matrix: x = tf.linalg.tridiagonal_solve((upper, "
    "diagonal, lower), right, diagonals_format='sequence'). Each has n numbers: pad upper with a 0 at its end, and "
    "lower with a 0 at its start.",
    _LOWER: "Use x = tf.linalg.triangular_solve(matrix, right, lower=True) instead of tf.linalg.solve(matrix, right).",
    _UPPER: "Use x = tf.linalg.triangular_solve(matrix, right, lower=False) instead of tf.linalg.solve(matrix, right).",
}


class BandedMatrix(Cause, frozen=True, kw_only=True):
    """``form`` of a matrix of ``size`` rows; ``columns`` of the right side."""

    form: str
    size: int
    columns: int

    @property
    def key(self) -> Hashable:
        return self.where, self.form


class BandedSolve(GraphRule[BandedMatrix]):
    """Recognised by how the graph builds the matrix: diagonals, their sums and products, a part that is cut out, the
    values of a constant. A matrix of which nothing is proven is left alone."""

    code = "GRF036"
    remedy = ReplaceOps("banded")
    title = "Dense solve with a tridiagonal, triangular or diagonal matrix"

    def find(self, view: View) -> Iterator[BandedMatrix]:
        """Yield the solutions whose matrix has a form that is solved with in fewer operations."""
        for node in view.forward:
            if node.type not in _SOLVES or len(node.inputs) < 2 or node.flag("adjoint"):
                continue
            shape = view.shape(*node.inputs[0])
            if not shape or shape[-1] < MIN_MATRIX.value:
                continue
            banded = find_band(view, node.inputs[0])
            form = _form(banded.band) if banded is not None else ""
            if banded is not None and form:
                yield _matrix(view, node, shape, banded, form)

    def report(self, evidence: Evidence, part: Part[BandedMatrix]) -> Finding:
        """Advise the solution for this form."""
        cause = part.cause
        return self.finding(
            evidence,
            part,
            f"Dense solve with a {cause.form} {cause.size:,} x {cause.size:,} matrix",
            _ADVICE[cause.form],
            "tf.linalg.solve factorises any matrix with n^3 operations. "
            + (
                "A triangular matrix takes n^2 for each right side."
                if cause.form in (_LOWER, _UPPER)
                else "So few diagonals take about n for each right side, and the n x n matrix needs no memory."
            ),
            count("rows of the matrix", cause.size),
            count("columns of the right side", cause.columns),
        )


def _form(band: Band) -> str:
    """Return the form that has a solution of its own; "" for others."""
    if max(band) == 0:
        return _DIAGONAL
    if max(band) == 1:
        return _TRIDIAGONAL
    return _LOWER if band.above == 0 else _UPPER if band.below == 0 else ""


def _matrix(view: View, node: Node, shape: tuple[int, ...], banded: Banded, form: str) -> BandedMatrix:
    size, columns = shape[-1], columns_of(view, node)
    many = math.prod(max(each, 1) for each in shape[:-2])
    width = view.bytes(*node.inputs[1]) / max(view.elements(*node.inputs[1]) or 1, 1)
    triangular = form in (_LOWER, _UPPER)
    diagonals_and_sides = sum(banded.band) + 1 + 2 * columns
    if triangular:
        flops, moved = float(size * size * columns), float(size * (size + 2 * columns))
    else:
        flops, moved = TRIDIAGONAL_FLOPS.value * size * (columns + 1), float(size * diagonals_and_sides)
    return BandedMatrix(
        where=node.place,
        operations=[node.name, *(() if triangular else _only_for(view, node, banded))],
        uncounted_flops=many * solving(view, node),
        flops=many * flops,
        bytes=many * width * moved,
        form=form,
        size=size,
        columns=columns,
    )


def _only_for(view: View, solve: Node, banded: Banded) -> Iterator[str]:
    """Yield the operations that build the matrix for this solution alone."""
    mine = {solve.name}
    for name in banded.makers:  # each stands after what uses it
        node = view.nodes[name]
        if name not in view.results and node.type != "Const" and {use.node.name for use in view.uses(node)} <= mine:
            mine.add(name)
            yield name
