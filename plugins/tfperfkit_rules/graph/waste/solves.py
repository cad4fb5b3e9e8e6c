"""GRF016: a matrix that stays the same is decomposed, inverted or solved with anew each time."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly

_SOLVE = (
    "factors = tf.linalg.lu(a) once, and tf.linalg.lu_solve(*factors, b) for each right side (tf.linalg.cholesky and "
    "cholesky_solve where the matrix is symmetric and positive definite)"
)
_OTHERS = "what is computed of the matrix alone (its inverse, its decomposition) once, and its result each time"
#: An assignment beside compiled functions is seen in the trace only.
_VARIABLES = "variables that are not trained and that no compiled function of this run changes"


def solves(evidence: Evidence) -> Iterator[Finding]:
    """GRF016, by matrices that follow from constants, captured tensors, variables that nothing changes, and what a loop
    hands on as it is."""
    for part in found(evidence, "solve"):
        figures = part.waste.figures
        by_variables = bool(figures.get("variables"))
        if by_variables and assigns_eagerly(evidence):  # to which variable is not known
            continue
        size, in_loop = round(figures["size"]), bool(figures["loop"])
        each, between = ("turn of a loop", "turn") if in_loop else ("call", "call")
        what = _SOLVE if figures["columns"] else _OTHERS
        before = "before the loop" if in_loop else "before the function, outside of tf.function"
        source = f"{_VARIABLES if by_variables else 'constants'} and from what does not change"
        if figures.get("argument") and not in_loop:
            source = "an argument that was the same in many calls in a row, and from what does not change"
        yield finding(
            evidence,
            part,
            codes.SAME_MATRIX,
            f"A matrix of {size:,} x {size:,} that stays the same is factorised in each {each}",
            f"Do once what depends on the matrix alone, {before}: {what}.",
            f"The matrix follows from {source} "
            f"between one {between} and the next. Its factors take n^3, a right side with them n^2.",
            count("rows of the matrix", size),
            *([count("columns of the right side", figures["columns"])] if figures["columns"] else []),
        )
