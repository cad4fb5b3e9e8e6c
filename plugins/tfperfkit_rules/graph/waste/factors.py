"""GRF025: several things of one matrix are computed, and each factorises it anew."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found


def factors(evidence: Evidence) -> Iterator[Finding]:
    """GRF025, by the tensor that goes into inverses, determinants and solutions."""
    for part in found(evidence, "factors"):
        figures = part.waste.figures
        size, times = round(figures["size"]), round(figures["times"])
        determinant = (
            "; the logarithm of the determinant is 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)), -1)"
            if figures["determinant"]
            else ""
        )
        without = " No inverse is needed for a product with it." if figures["inverse"] else ""
        yield finding(
            evidence,
            part,
            codes.FACTORISED_AGAIN,
            f"The same matrix of {size:,} x {size:,} is factorised {'twice' if times == 2 else f'{times} times'}",
            "Factorise it once and use the factor for all: root = tf.linalg.cholesky(matrix), and for a product with "
            f"its inverse tf.linalg.cholesky_solve(root, right){determinant}.{without}",
            "An inverse, a determinant and a solution each factorise the matrix anew, and so do their gradients. "
            "Cholesky's factor takes half of the arithmetic of the general one (LU), for matrices that are symmetric "
            "and positive definite, as covariances and kernels are; for others tf.linalg.lu and lu_solve do the same.",
            count("rows of the matrix", size),
            count("operations that factorise it", times),
        )
