"""Decompositions, inverses and solutions with a matrix that stays the same from turn to turn, or from call to call."""

from __future__ import annotations

from collections.abc import Iterator, Set

from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "solve"
SOLVES = frozenset({"MatrixSolve", "MatrixSolveLs"})
DECOMPOSES = frozenset(
    {
        "MatrixInverse",
        "Cholesky",
        "Lu",
        "Qr",
        "Svd",
        "SelfAdjointEigV2",
        "Eig",
        "MatrixExponential",
        "MatrixSquareRoot",
        "MatrixDeterminant",
        "LogMatrixDeterminant",
        "Pinv",
    }
)


def solves(view: View) -> Iterator[Wasted]:
    """By matrices that follow from constants and from what ``view.stays`` alone, variables among it that stay, and
    arguments that were the same for many calls in a row. Where the right side of a loop's solution stays too, ``again``
    has it, with all else that stays."""
    fixed = Flow(view).same({*view.stays, *view.given.same}).states
    for node in view.forward:
        if node.type not in SOLVES | DECOMPOSES or not node.inputs:
            continue
        shape = view.shape(*node.inputs[0])
        lower = numbers.MIN_SOLVED.value if node.type in SOLVES else numbers.MIN_MATRIX.value
        if node.type in SOLVES and view.in_loop and view.given.same and fixed.get(node.inputs[1]):
            continue
        if shape and shape[-1] >= lower and fixed.get(node.inputs[0]):
            yield _of(view, node, shape[-1])


def _reads_variables(view: View, name: str) -> bool:
    """Whether a tensor follows from a variable."""
    return _follows(view, name, {each for each in view.nodes if view.graph.type_of(each).dtype == "resource"})


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


def solving(view: View, node: Node) -> float:
    """The FLOPs of a solution, as those of a product that takes as long."""
    size = max((view.shape(*node.inputs[0]) or (0,))[-1], 0)
    columns = (view.shape(*node.inputs[1]) or (1,))[-1]
    return numbers.FACTORISING_SLOWER.value * (2 / 3 * size**3 + 2.0 * size**2 * columns)


def _of(view: View, node: Node, size: int) -> Wasted:
    """A solution still takes two triangular ones; anything else is there already."""
    columns = (view.shape(*node.inputs[1]) or (1,))[-1] if node.type in SOLVES else 0
    now = 2 / 3 * size**3 + 2.0 * size**2 * columns
    triangular = 2.0 * size**2 * columns / now
    return Wasted(
        kind=KIND,
        where=node.place,
        operations=[node.name],
        uncounted_flops=numbers.FACTORISING_SLOWER.value * now,
        left=max(numbers.SOLVED_LEFT.value, min(1.0, triangular)) if columns else 0.0,
        figures={
            "size": size,
            "columns": columns,
            "loop": float(view.in_loop),
            "argument": float(_follows(view, node.inputs[0][0], view.given.same.keys() - view.stays)),
            "variables": float(_reads_variables(view, node.inputs[0][0])),
        },
    )
