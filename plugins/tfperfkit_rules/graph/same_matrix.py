"""GRF016: a matrix that stays the same is decomposed, inverted or solved with again each time."""

from __future__ import annotations

from collections.abc import Iterator, Set

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.factorising import (
    DECOMPOSES,
    FACTORISING_SLOWER,
    MIN_MATRIX,
    SOLVES,
    columns_of,
    flops_of,
)
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly
from tfperfkit_rules.measures.ran_here import describe_unchanged

MIN_SOLVED = Threshold(
    200,
    "rows",
    "minimum size of a matrix that is solved with: for a smaller one the two triangular solutions take as long",
    Measured("with 128 rows 0.18 and 0.41 ms", TWO_BUSY_CORES, None),
)
SOLVED_LEFT = Threshold(
    0.15,
    "share",
    "minimum share of a solution's time that two triangular solutions take",
    Measured("0.18 with 1,000 rows, 0.32 with 480", TWO_BUSY_CORES, 2),
)
_SOLVE = (
    "factors = tf.linalg.lu(a), then tf.linalg.lu_solve(*factors, b) for each right side. Or, if it is symmetric and "
    "positive definite: tf.linalg.cholesky and cholesky_solve"
)
_OTHERS = "compute its inverse or decomposition there, and use the kept result"


class StayingMatrix(Cause, frozen=True, kw_only=True):
    """``size``: rows of the matrix; ``columns``: of the right side, 0 for a decomposition. ``in_loop``: it stays from
    iteration to iteration. ``of_argument``, ``of_variables``: the matrix also depends on an argument or on variables,
    besides constants."""

    size: int
    columns: int
    in_loop: bool
    of_argument: bool = False
    of_variables: bool = False


class SameMatrix(GraphRule[StayingMatrix]):
    """Recognised by matrices that follow from constants, captured tensors, arguments that were the same for many calls
    in a row, what a loop hands on as it is, and variables that stay: no function that ran in this loop changes them.

    If the right side of a loop's solution stays too, GRF023 reports it with all else that stays.
    """

    code = "GRF016"
    title = "Constant matrix factorised again in every call (tf.linalg)"

    def find(self, view: View) -> Iterator[StayingMatrix]:
        """Yield the decompositions and solutions of which the matrix stays."""
        factorising = [node for node in view.forward if node.type in SOLVES | DECOMPOSES and node.inputs]
        if not factorising:
            return
        fixed = Flow(view).same({*view.stays, *view.given.same}).states
        for node in factorising:
            solves = node.type in SOLVES
            if solves and view.in_loop and view.given.same and fixed.get(node.inputs[1]):
                continue
            shape = view.shape(*node.inputs[0])
            least = MIN_SOLVED.value if solves else MIN_MATRIX.value
            if shape and shape[-1] >= least and fixed.get(node.inputs[0]):
                yield _matrix(view, node, shape[-1])

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Leave out matrices of variables if the run assigns to variables eagerly: to which is not known."""
        for part in self.parts(evidence):
            if not (part.cause.of_variables and assigns_eagerly(evidence)):
                yield self.report(evidence, part)

    def report(self, evidence: Evidence, part: Part[StayingMatrix]) -> Finding:
        """Advise to factorise it once, before the loop or the function."""
        cause = part.cause
        each, between = ("iteration of a loop", "iteration") if cause.in_loop else ("call", "call")
        before = "before the loop" if cause.in_loop else "before the function, outside of tf.function"
        # Only the trace shows an assignment outside of compiled functions.
        variables = describe_unchanged(evidence, part.function.graph)
        source = f"{variables if cause.of_variables else 'constants'} and from what does not change"
        if cause.of_argument and not cause.in_loop:
            source = "an argument that was the same in many calls in a row, and from what does not change"
        return self.finding(
            evidence,
            part,
            f"Constant {cause.size:,} x {cause.size:,} matrix factorised again in every {each}",
            f"Factorise the matrix once, {before}: {_SOLVE if cause.columns else _OTHERS}.",
            f"The matrix depends only on {source} between one {between} and the next. Factorising takes n^3 "
            "operations, solving with the factors n^2.",
            count("rows of the matrix", cause.size),
            *([count("columns of the right side", cause.columns)] if cause.columns else []),
        )


def _matrix(view: View, node: Node, size: int) -> StayingMatrix:
    """The cause. A solution still takes two triangular ones; anything else is there already."""
    columns = columns_of(view, node)
    now = flops_of(size, columns)
    triangular = (now - flops_of(size, 0)) / now
    variables = {each for each in view.nodes if view.graph.type_of(each).dtype == "resource"}
    return StayingMatrix(
        where=node.place,
        operations=[node.name],
        uncounted_flops=FACTORISING_SLOWER.value * now,
        left=max(SOLVED_LEFT.value, min(1.0, triangular)) if columns else 0.0,
        size=size,
        columns=columns,
        in_loop=view.in_loop,
        of_argument=_follows(view, node.inputs[0][0], view.given.same.keys() - view.stays),
        of_variables=_follows(view, node.inputs[0][0], variables),
    )


def _follows(view: View, name: str, sources: Set[str]) -> bool:
    """Whether a tensor follows from one of these."""
    pending, seen = [name], {name}
    while pending:
        node = view.nodes[pending.pop()]
        if node.name in sources:
            return True
        pending += (new := [owner for owner, _ in node.inputs if owner not in seen])
        seen.update(new)
    return False
