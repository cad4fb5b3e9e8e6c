"""GRF021: a product with a matrix of which nearly all numbers are zero."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, Measurement
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

SPARSE_SLOWER = Threshold(
    70,
    "ratio",
    "ratio of the time of a sparse matmul to that of the same part of the dense matmul",
    Measured(
        "40 to 85 with 0.15 to 3 % of the numbers, forward and backward; by processor time 68 to 78",
        "two cores shared with other work, TensorFlow 2.21, by hand",
        None,
    ),
)
MATRIX_MIN = Threshold(
    1 << 14,
    "numbers",
    "minimum size of a matrix: a smaller one is multiplied in no time",
    Chosen("a matrix of 128 by 128"),
)
SCALING_MOVES = Threshold(
    3,
    "ratio",
    "ratio of the bytes that scaling moves to those of its result",
    Derived("it reads two numbers and writes one"),
)
RESHAPES_MAX = Threshold(
    4,
    "operations",
    "maximum number of operations that reshape a matrix before a matmul",
    Chosen("it bounds the search"),
)
UNSEEN_MAX = Threshold(
    1e-5, "share", "assumed share of nonzero numbers, if a sample has only zeros", Derived("one number of the sample")
)
_DIAGONALS = optable.names(trait="makes-diagonal")
#: The input with the nonzero numbers, by the operation that makes a dense tensor.
_MADE_DENSE = {"SparseToDense": 2, "ScatterNd": 1}
_PRODUCTS = optable.names(kind="product")


class ZeroMatrix(Cause, frozen=True, kw_only=True):
    """``filled``: the share of the ``numbers`` that is not zero. ``made``: a sparse matrix was made dense in the
    function. ``looked_up``: rows of the matrix are looked up before the product."""

    numbers: int
    filled: float
    diagonal: bool = False
    made: bool = False
    looked_up: bool = False


class SparseAsDense(GraphRule[ZeroMatrix]):
    """Recognised by the values of captured tensors and constants when the function was traced, and by operations that
    make such a matrix in the function."""

    code = "GRF021"
    title = "Sparse matrix multiplied as dense by tf.matmul"

    def find(self, view: View) -> Iterator[ZeroMatrix]:
        """Yield the products for which a sparse product, or scaling, takes less time."""
        for node in view.forward:
            if node.type in _PRODUCTS and len(node.inputs) == 2:
                causes = (self._cause(view, node, number) for number in (0, 1))
                yield from [cause for cause in causes if cause is not None][:1]

    def _cause(self, view: View, node: Node, number: int) -> ZeroMatrix | None:
        matrix, source = _find_matrix(view, node, number), view.source(node, number)
        filled = _filled_share(view, matrix) if matrix is not None else None
        if matrix is None or filled is None:
            return None
        looked_up, diagonal = matrix is not source, matrix.type in _DIAGONALS
        left = 0.0 if diagonal else filled * SPARSE_SLOWER.value
        if left >= 1 or (looked_up and diagonal):  # rows of the identity are one-hot vectors
            return None
        made = diagonal or matrix.type in _MADE_DENSE
        alone = made and len({use.node.name for use in view.uses(matrix)}) == 1
        return ZeroMatrix(
            where=node.place,
            places=[each.place for each in (matrix if made else None, source) if each and each.place],
            operations=[node.name, *([matrix.name] if alone else [])],
            left=None if diagonal else left,
            # A diagonal scales the rows of the other matrix: reading and writing them is left.
            bytes=SCALING_MOVES.value * view.bytes(node.name) if diagonal else 0.0,
            numbers=view.elements(matrix.name) or 0,
            filled=filled,
            diagonal=diagonal,
            made=made,
            looked_up=looked_up,
        )

    def report(self, evidence: Evidence, part: Part[ZeroMatrix]) -> Finding:
        """Advise to scale, or a sparse product."""
        cause = part.cause
        if cause.diagonal:
            return self.finding(
                evidence,
                part,
                f"Diagonal matrix of {often(cause.numbers)} numbers multiplied as dense",
                "Scale instead: d[:, None] * x replaces tf.linalg.diag(d) @ x. Or: x * d replaces x @ "
                "tf.linalg.diag(d).",
                "The product multiplies and adds the zeros too, forward and backward. The results are the same.",
                count("numbers of the matrix", cause.numbers),
                Measurement("share of nonzero numbers", cause.filled, "share", "run"),
            )
        identity = "If the matrix is tf.eye, use tf.gather(x, ids). Else keep"
        keep = identity if cause.looked_up else "Keep"
        return self.finding(
            evidence,
            part,
            f"Sparse matrix of {often(cause.numbers)} numbers ({100 * cause.filled:.2g} % nonzero) multiplied as dense",
            "Keep it sparse: tf.sparse.sparse_dense_matmul(sparse, x) replaces tf.sparse.to_dense(sparse) @ x. Or, "
            "with "
            "lists of indices: tf.math.unsorted_segment_sum(tf.gather(x, columns) * values[:, None], rows, n)."
            if cause.made
            else f"{keep} it sparse: sparse = tf.sparse.from_dense(matrix), once before the function, then "
            "tf.sparse.sparse_dense_matmul(sparse, x) instead of matrix @ x. Or, for links between nodes: "
            "tf.math.unsorted_segment_sum(tf.gather(x, sources) * weights[:, None], targets, n).",
            "A dense product multiplies the zeros too, forward and backward. A sparse product takes about 70 times "
            "as long per number, so it pays off below about 1 % nonzeros.",
            count("numbers of the matrix", cause.numbers),
            Measurement(
                f"share of nonzero numbers{'' if cause.made else ', from a sample'}", cause.filled, "share", "run"
            ),
        )


def _find_matrix(view: View, node: Node, number: int) -> Node | None:
    """The matrix that goes into a product, or the one of which rows go into it."""
    source = view.source(node, number)
    for _ in range(int(RESHAPES_MAX.value)):
        if source is None or not view.reshapes(source):
            break
        source = view.source(source, 0)
    looked_up = source is not None and source.type == "GatherV2" and names_rows(view, source)
    return view.source(source, 0) if looked_up and source is not None else view.source(node, number)


def _filled_share(view: View, matrix: Node) -> float | None:
    """The share of the numbers that is not zero; None if it is not known, or if the matrix is small."""
    share = view.zeros.get(matrix.name)
    if share is not None:
        return max(1 - share, UNSEEN_MAX.value)
    every = view.elements(matrix.name) or 0
    if every < MATRIX_MIN.value or not (matrix.type in _DIAGONALS or matrix.type in _MADE_DENSE):
        return None
    given = view.elements(*matrix.inputs[_MADE_DENSE.get(matrix.type, 0)])
    return given / every if given else None
