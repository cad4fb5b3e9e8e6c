"""Products with a matrix of which nearly all numbers are zero: a constant one, one with numbers on its diagonal alone,
or a sparse one that was made dense."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.uses import along_rows
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "zeros"
#: A matrix of fewer numbers is multiplied in no time.
_MIN_NUMBERS = 1 << 14
_DIAGONALS = frozenset({"MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "Diag"})
#: Of each the number of the input that holds what is not zero.
_MADE_DENSE = {"SparseToDense": 2, "ScatterNd": 1}
_DEEPEST = 4
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})


def zeros(view: View) -> Iterator[Wasted]:
    """By captured tensors and constants whose numbers were looked at when the function was traced, and by what makes a
    matrix in the function."""
    for node in view.forward:
        if node.type not in _PRODUCTS or len(node.inputs) != 2:
            continue
        for number in (0, 1):
            matrix = _whole(view, node, number)
            filled = _filled(view, matrix) if matrix is not None else None
            if matrix is None or filled is None:
                continue
            source = view.source(node, number)
            rows = matrix is not source
            diagonal = matrix.type in _DIAGONALS
            if rows and diagonal:  # of the identity they are one-hot vectors
                continue
            # A diagonal scales the other's rows: what is left is reading and writing them.
            left = 0.0 if diagonal else filled * numbers.SPARSE_SLOWER.value
            if left < 1:
                made = matrix.type in _DIAGONALS | _MADE_DENSE.keys()
                alone = made and len({use.node.name for use in view.uses(matrix)}) == 1
                yield Wasted(
                    kind=KIND,
                    where=node.place,
                    places=[each.place for each in (matrix if made else None, source) if each and each.place],
                    operations=[node.name, *([matrix.name] if alone else [])],
                    left=None if diagonal else left,
                    bytes=3.0 * view.bytes(node.name) if diagonal else 0.0,
                    figures={
                        "numbers": float(view.elements(matrix.name) or 0),
                        "filled": filled,
                        "diagonal": float(diagonal),
                        "made": float(made),
                        "looked_up": float(rows),
                    },
                )
                break


def _whole(view: View, node: Node, number: int) -> Node | None:
    """The matrix that goes into a product, or some of whose rows do."""
    source = view.source(node, number)
    for _ in range(_DEEPEST):
        if source is None or not view.reshapes(source):
            break
        source = view.source(source, 0)
    looked_up = source is not None and source.type == "GatherV2" and along_rows(view, source)
    return view.source(source, 0) if looked_up and source is not None else view.source(node, number)


def _filled(view: View, matrix: Node) -> float | None:
    """The share of a matrix' numbers that are not zero; None where that is not known, or it is small."""
    share = view.zeros.get(matrix.name)
    if share is not None:
        # Of a sample without a single other number it is at most one in as many as it has.
        return max(1 - share, 1e-5)
    every = view.elements(matrix.name) or 0
    if every < _MIN_NUMBERS or matrix.type not in _DIAGONALS | _MADE_DENSE.keys():
        return None
    given = view.elements(*matrix.inputs[_MADE_DENSE.get(matrix.type, 0)])
    return given / every if given else None
