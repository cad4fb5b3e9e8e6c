"""GRF025: several things are computed of one matrix, and each factorises it again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.flops import CHOLESKY, INVERSE, INVERSE_OF_FACTOR, LU
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.factorising import FACTORISING_SLOWER, MIN_MATRIX
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

FACTORS_LEFT = Threshold(
    0.3,
    "share",
    "minimum share of several factorisations of a matrix that remains with one",
    Measured(
        "of a step with 500 rows 0.31, with 900 0.6, with a gradient through the factor",
        TWO_BUSY_CORES,
        2,
    ),
)
_FACTORISE = optable.names(trait="triangular")
_PRODUCTS = optable.names(axis=("matmul", "batch-matmul"))


class FactorisedMatrix(Cause, frozen=True, kw_only=True):
    """A matrix of ``size`` rows is factorised ``times`` times. ``determinant``, ``inverse``: what is asked for."""

    size: int
    times: int
    determinant: bool
    inverse: bool


class FactorisedAgain(GraphRule[FactorisedMatrix]):
    """Recognised by the tensor that goes into inverses, determinants and solutions, or by tensors that are made alike
    (by a helper that is called twice). The same operation on it twice is one: Grappler sees to that."""

    code = "GRF025"
    title = "Same matrix factorised several times in a call (tf.linalg)"

    def find(self, view: View) -> Iterator[FactorisedMatrix]:
        """Yield each matrix that goes into several such operations."""
        by_matrix: dict[object, list[Node]] = defaultdict(list)
        for node in view.forward:
            if node.type in _FACTORISE and node.inputs:
                by_matrix[view.alike.make_key(node.inputs[0])].append(node)
        for nodes in by_matrix.values():
            different = {
                (node.type, tuple(view.alike.make_key(owner) for owner in node.inputs[1:]), node.flag("adjoint")): node
                for node in nodes
            }
            shape = view.shape(*nodes[0].inputs[0])
            for_keeps = {node.type for node in nodes} <= {"Cholesky", "Lu"}
            if len(different) > 1 and shape and shape[-1] >= MIN_MATRIX.value and not for_keeps:
                yield _matrix(view, list(different.values()), shape)

    def report(self, evidence: Evidence, part: Part[FactorisedMatrix]) -> Finding:
        """Advise one Cholesky factor for all."""
        size, times = part.cause.size, part.cause.times
        determinant = (
            "; the logarithm of the determinant is 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)"
            if part.cause.determinant
            else ""
        )
        without = " No inverse is needed for a product with it." if part.cause.inverse else ""
        return self.finding(
            evidence,
            part,
            f"Same {size:,} x {size:,} matrix factorised {'twice' if times == 2 else f'{times} times'} in a call",
            "Factorise the matrix once: root = tf.linalg.cholesky(matrix), then tf.linalg.cholesky_solve(root, "
            "right) for a "
            f"product with its inverse{determinant}.{without} Or: tf.linalg.lu and lu_solve, if it is not symmetric "
            "and positive definite.",
            "An inverse, a determinant and a solution each factorise the matrix again, and so do their gradients. "
            "Cholesky takes half of the arithmetic of a general factorisation (LU).",
            count("rows of the matrix", size),
            count("operations that factorise it", times),
        )


def _matrix(view: View, nodes: list[Node], shape: tuple[int, ...]) -> FactorisedMatrix:
    size = shape[-1]
    many = math.prod(max(each, 1) for each in shape[:-2])
    whole = sum(_arithmetic(node) for node in nodes)
    needed = any(node.type == "MatrixInverse" and _is_needed(view, node) for node in nodes)
    kept = CHOLESKY + (INVERSE_OF_FACTOR if needed else 0)
    nodes = sorted(nodes, key=lambda node: -_arithmetic(node))
    return FactorisedMatrix(
        where=nodes[0].place,
        operations=[node.name for node in nodes],
        uncounted_flops=FACTORISING_SLOWER.value * whole * many * float(size * size * size),
        left=min(1.0, max(FACTORS_LEFT.value, kept / whole)),
        size=size,
        times=len(nodes),
        determinant=any(_is_determinant(view, node) for node in nodes),
        inverse=any(node.type == "MatrixInverse" for node in nodes),
    )


def _arithmetic(node: Node) -> float:
    """FLOPs in n^3 for a matrix of n rows."""
    return {"MatrixInverse": INVERSE, "Cholesky": CHOLESKY}.get(node.type, LU)


def _is_determinant(view: View, node: Node) -> bool:
    """Whether it is a determinant, or a factor of which only the diagonal is used, as ``tf.linalg.logdet`` does."""
    uses = view.uses(node) if node.type == "Cholesky" else []
    return "Determinant" in node.type or (bool(uses) and all("DiagPart" in use.node.type for use in uses))


def _is_needed(view: View, inverse: Node) -> bool:
    """Whether an inverse goes into anything but products, where a solution would do."""
    return any(use.node.type not in _PRODUCTS for use in view.uses(inverse))
