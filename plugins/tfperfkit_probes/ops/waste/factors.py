"""A matrix of which several things are computed from the start, where one factorisation gives all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "factors"
#: Operations that factorise a matrix and throw the factors away, with their arithmetic in n^3.
_FACTORISE = {
    "MatrixInverse": 2.0,
    "MatrixDeterminant": 2 / 3,
    "LogMatrixDeterminant": 2 / 3,
    "MatrixSolve": 2 / 3,
    "Cholesky": 1 / 3,
    "Lu": 2 / 3,
}
_DETERMINANTS = ("MatrixDeterminant", "LogMatrixDeterminant")
_PRODUCTS = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
#: One Cholesky factor, in n^3, and an inverse made with it.
_FACTOR, _INVERSE = 1 / 3, 5 / 3


def factors(view: View) -> Iterator[Wasted]:
    """By the tensor that goes in, or tensors that are made alike (by a helper that is called twice). The same operation
    on it twice is one: Grappler sees to that."""
    by_matrix: dict[object, list[Node]] = defaultdict(list)
    for node in view.forward:
        if node.type in _FACTORISE and node.inputs:
            by_matrix[view.alike.key(node.inputs[0])].append(node)
    for nodes in by_matrix.values():
        different = {
            (node.type, tuple(view.alike.key(owner) for owner in node.inputs[1:]), node.flag("adjoint")): node
            for node in nodes
        }
        shape = view.shape(*nodes[0].inputs[0])
        if len(different) > 1 and shape and shape[-1] >= numbers.MIN_MATRIX.value and not _is_one_factor(nodes):
            yield _of(view, list(different.values()), shape)


def _is_one_factor(nodes: list[Node]) -> bool:
    """Whether it is factorised for keeps, and only its determinant, which takes less, is asked for besides."""
    kinds = {node.type for node in nodes}
    return kinds <= {"Cholesky", "Lu"}


def _of(view: View, nodes: list[Node], shape: tuple[int, ...]) -> Wasted:
    size = shape[-1]
    many = 1
    for each in shape[:-2]:
        many *= max(each, 1)
    whole = sum(_FACTORISE[node.type] for node in nodes)
    kept = _FACTOR + (_INVERSE if any(node.type == "MatrixInverse" and _is_needed(view, node) for node in nodes) else 0)
    nodes = sorted(nodes, key=lambda node: -_FACTORISE[node.type])
    return Wasted(
        kind=KIND,
        where=nodes[0].place,
        operations=[node.name for node in nodes],
        uncounted_flops=numbers.FACTORISING_SLOWER.value * whole * many * float(size) ** 3,
        left=min(1.0, max(numbers.FACTORS_LEFT.value, kept / whole)),
        figures={
            "size": size,
            "times": len(nodes),
            "determinant": float(any(_is_determinant(view, node) for node in nodes)),
            "inverse": float(any(node.type == "MatrixInverse" for node in nodes)),
        },
    )


def _is_determinant(view: View, node: Node) -> bool:
    """A determinant, or a factor of which only the diagonal is used, as ``tf.linalg.logdet`` does."""
    uses = list(view.uses(node)) if node.type == "Cholesky" else []
    return node.type in _DETERMINANTS or bool(uses) and all("DiagPart" in use.node.type for use in uses)


def _is_needed(view: View, inverse: Node) -> bool:
    """Whether an inverse goes into anything but products, where a solution would do."""
    return any(use.node.type not in _PRODUCTS for use in view.uses(inverse))
