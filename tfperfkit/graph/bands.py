"""The bands of matrices that a graph builds: how far from the diagonal there may be numbers other than 0.

A band is proven by what makes the matrix: diagonals, sums and products of such matrices, a part that was cut out, a
triangular factor. A tensor that something else makes has none.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES, SAME
from tfperfkit.graph.view import View

_DEPTH = 24
#: A constant with more numbers is not looked at.
_MAX_NUMBERS = 1 << 20
_DIAGONALS = optable.names(trait="makes-diagonal")
_LETTERS = {"float32": "f", "float64": "d"}
_SETS_DIAGONAL = optable.names(trait="sets-diagonal")
_SUMS = optable.names(trait="shifts") | optable.names(kind="sum-of-many")
_SCALES = optable.names(trait="scales")
_MATMULS = optable.names(axis=("matmul", "batch-matmul"))
_KEEPS = SAME | RESHAPES | {"Neg", "BroadcastTo"}
_CHOICES = optable.names(kind="select")


class Band(NamedTuple):
    """Numbers are at most ``below`` diagonals below the main one, and ``above`` of them above it."""

    below: int
    above: int

    def joined(self, other: Band) -> Band:
        """Return the band of a sum."""
        return Band(max(self.below, other.below), max(self.above, other.above))


class Banded(NamedTuple):
    """``makers``: the operations that build the matrix out of its diagonals, innermost last."""

    band: Band
    makers: tuple[str, ...]


def find_band(view: View, owner: tuple[str, int]) -> Banded | None:
    """Return the band of square matrices, in the last two axes of a tensor; None if nothing is proven."""
    return _Bands(view).of(owner, 0)


class _Bands:
    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[tuple[str, int], Banded | None] = {}

    def of(self, owner: tuple[str, int], depth: int) -> Banded | None:
        if owner not in self._known:
            self._known[owner] = self._find(owner, depth)
        return self._known[owner]

    def _find(self, owner: tuple[str, int], depth: int) -> Banded | None:
        node, shape = self._view.nodes.get(owner[0]), self._view.shape(*owner)
        if node is None or depth > _DEPTH or shape is None or len(shape) < 2 or not 0 < shape[-1] == shape[-2]:
            return None
        found = self._made(node, owner, depth + 1)
        return found and Banded(found.band, (node.name, *found.makers))

    def _made(self, node: Node, owner: tuple[str, int], depth: int) -> Banded | None:
        """Return the band by the operation, without the operation itself among the makers."""
        view, kind = self._view, node.type

        def inputs(*numbers: int) -> list[Banded | None]:
            """Only matrices of one size: others are broadcast, or cut in another way."""
            given = [node.inputs[number] for number in numbers if number < len(node.inputs)]
            size = _whole(view, owner)
            return [self.of(each, depth) if _whole(view, each) == size else None for each in given]

        if kind in _DIAGONALS or kind in _SETS_DIAGONAL:
            band = self._diagonals(node)
            return _joined([band and Banded(band, ()), *(inputs(0) if kind in _SETS_DIAGONAL else ())])
        if kind in ("Fill", "ZerosLike"):
            value = view.source(node, 1) if kind == "Fill" else None
            zero = kind == "ZerosLike" or (value is not None and _is_zero(view, value))
            return Banded(Band(0, 0), ()) if zero else None
        if kind == "Const":
            band = Band(0, 0) if _is_zero(view, node) else _band_of_values(node)
            return band and Banded(band, ())
        if kind in _SUMS:
            return _joined(inputs(*range(len(node.inputs))))
        if kind == "Mul":
            return _narrowest([each for each in inputs(0, 1) if each is not None])
        if kind in _SCALES or kind in _KEEPS or kind == "Cast":
            return inputs(0)[0]
        if kind in _CHOICES:
            return _joined(inputs(1, 2))
        if kind in _MATMULS:
            return self._product(node, inputs(0, 1))
        if kind in ("Transpose", "ConjugateTranspose"):
            return self._transposed(node, inputs(0)[0])
        if kind == "MatrixBandPart":
            return self._part(node, inputs(0)[0])
        if kind == "Cholesky":
            return Banded(Band(_whole(view, owner), 0), ())
        return None

    def _diagonals(self, node: Node) -> Band | None:
        """Return which diagonals an operation sets."""
        if node.type in ("MatrixDiag", "MatrixSetDiag", "Diag"):
            return Band(0, 0)
        at = 2 if node.type in _SETS_DIAGONAL else 1
        which = self._view.integers(self._view.source(node, at))
        if node.type in _DIAGONALS:
            padding = self._view.source(node, 4)
            if len(node.inputs) > 4 and (padding is None or not _is_zero(self._view, padding)):
                return None
        return Band(max(-which[0], 0), max(which[-1], 0)) if which else None

    def _product(self, node: Node, factors: list[Banded | None]) -> Banded | None:
        """Return the band of a product: the bands add up."""
        one, other = (factors + [None, None])[:2]
        if one is None or other is None:
            return None
        turns = ("transpose_a", "transpose_b") if node.type == "MatMul" else ("adj_x", "adj_y")
        bands = [
            _turned(each.band) if node.flag(turn) else each.band for each, turn in zip((one, other), turns, strict=True)
        ]
        most = _whole(self._view, (node.name, 0))
        band = Band(min(sum(each.below for each in bands), most), min(sum(each.above for each in bands), most))
        return Banded(band, (*one.makers, *other.makers))

    def _transposed(self, node: Node, given: Banded | None) -> Banded | None:
        axes = self._view.integers(self._view.source(node, 1))
        rank = len(axes) if axes else 0
        if given is None or not axes or {axes[-1], axes[-2]} != {rank - 1, rank - 2}:
            return None
        return Banded(_turned(given.band) if axes[-1] == rank - 2 else given.band, given.makers)

    def _part(self, node: Node, given: Banded | None) -> Banded | None:
        """Return the band of what ``tf.linalg.band_part`` cuts out; a negative number keeps all."""
        most = _whole(self._view, (node.name, 0))
        kept = [self._view.integers(self._view.source(node, number)) for number in (1, 2)]
        sides = [each[0] if each and each[0] >= 0 else most for each in kept]
        band = given.band if given is not None else Band(most, most)
        return Banded(Band(min(band.below, sides[0]), min(band.above, sides[1])), given.makers if given else ())


def _joined(parts: list[Banded | None]) -> Banded | None:
    known = [each for each in parts if each is not None]
    if not known or len(known) < len(parts):
        return None
    band = known[0].band
    for each in known[1:]:
        band = band.joined(each.band)
    return Banded(band, tuple(dict.fromkeys(name for each in known for name in each.makers)))


def _narrowest(parts: list[Banded]) -> Banded | None:
    """Return the band of a product number by number: where one of the factors is 0."""
    if not parts:
        return None
    band = Band(min(each.band.below for each in parts), min(each.band.above for each in parts))
    return Banded(band, tuple(dict.fromkeys(name for each in parts for name in each.makers)))


def _turned(band: Band) -> Band:
    return Band(band.above, band.below)


def _whole(view: View, owner: tuple[str, int]) -> int:
    """Return how many diagonals there are on a side of the main one."""
    shape = view.shape(*owner)
    return max(shape[-1] - 1, 0) if shape else 0


def _is_zero(view: View, node: Node) -> bool:
    return node.type == "Const" and 0.0 in (view.number(node), view.filled(node))


def _band_of_values(node: Node) -> Band | None:
    """Return the band of a constant matrix by its numbers; None where they were not recorded."""
    made, value = node.outputs[0], node.attr("value")
    letter = _LETTERS.get(made.dtype)
    if value is None or letter is None or made.shape is None or len(made.shape) != 2:
        return None
    numbers, content = made.elements or 0, bytes(value.tensor.content)
    if not 0 < numbers <= _MAX_NUMBERS or len(content) != numbers * array(letter).itemsize:
        return None
    values, size = array(letter, content), made.shape[-1]
    below = above = 0
    for row in range(made.shape[0]):
        filled = [column for column, each in enumerate(values[row * size : (row + 1) * size]) if each]
        if filled:
            below, above = max(below, row - filled[0]), max(above, filled[-1] - row)
    return Band(below, above)
