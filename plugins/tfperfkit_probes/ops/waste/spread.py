"""Numbers of rows spread out into masks, one-hot or by comparing each with each, only to be summed up again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.uses import along_rows
from tfperfkit.graph.view import Use, View
from tfperfkit_probes.ops.model import Wasted

KIND = "spread"
#: A mask has at least so many times the numbers that it is made of: few classes cost nothing.
_WIDE = 8
_PRODUCTS = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
_SUMS = frozenset({"Sum", "Max", "Min", "Mean", "Prod"})
_WITH = frozenset({"Mul", "MulNoNan", "SelectV2", "Select"})
_ORDERS = frozenset({"Less", "LessEqual", "Greater", "GreaterEqual"})
_LONGEST = 8
#: Those that make a vector for each index, or for the indices of a row.
_VECTORS = frozenset({"OneHot", "DenseBincount", "GatherV2"})


class _End(NamedTuple):
    """What a mask ends in: the nodes on the way to it and itself, and bytes of a lookup, or of sums by row, in its
    place."""

    way: tuple[Node, ...]
    bytes: float


def spread(view: View) -> Iterator[Wasted]:
    """``one_hot(ids, n) @ table``, also of vectors that are counts or rows of the identity, sums over
    ``equal(ids[:, None], range(n))`` with what it masks, and how many of some numbers are smaller than each of others,
    counted over ``a[None] < b[:, None]``."""
    for node in view.forward:
        made = _is_mask(view, node)
        if made is None:
            continue
        ends, whole = _ends(view, node, (), made)
        if node.type in _ORDERS:
            ends = [end for end in ends if not any(each.type in _WITH | _PRODUCTS for each in end.way)]
        if not ends:
            continue
        one_hot = node.type in _VECTORS
        nodes = list(dict.fromkeys(each.name for end in ends for each in end.way))
        places = [each.place for end in ends for each in reversed(end.way) if each.place is not None]
        places += [node.place] if node.place is not None else []
        yield Wasted(
            kind=KIND,
            where=node.place or (places[0] if places else None),
            places=list(dict.fromkeys(places)),
            operations=[*([node.name] if whole else []), *nodes],
            bytes=sum(end.bytes for end in ends),
            figures={
                "mask": made,
                "ids": max(view.elements(*owner) or 0 for owner in _indices(node)),
                "one_hot": float(one_hot),
                "ordered": float(node.type in _ORDERS),
                "looked_up": float(any(each.type in _PRODUCTS for end in ends for each in end.way)),
            },
        )


def _is_mask(view: View, node: Node) -> int | None:
    """The numbers of a mask; None for what is none, or too small to matter."""
    if node.type not in ("OneHot", "DenseBincount", "GatherV2", "Equal", *_ORDERS) or not node.inputs:
        return None
    if node.type == "GatherV2" and not _of_identity(view, node):
        return None
    made = view.elements(node.name) or _by_product(view, node)
    sizes = [view.elements(*owner) for owner in _indices(node)]
    if made is None or None in sizes or made < _WIDE * max(size or 0 for size in sizes):
        return None
    whole = view.graph.type_of(*_indices(node)[0]).dtype.startswith(("int", "uint"))
    return made if whole or node.type in _ORDERS else None


def _indices(node: Node) -> list[tuple[str, int]]:
    """What a mask is made of: indices, or the two sides of a comparison."""
    if node.type == "GatherV2":
        return node.inputs[1:2]
    return node.inputs[: 2 if node.type not in _VECTORS else 1]


def _of_identity(view: View, node: Node) -> bool:
    """Whether it looks up rows of ``tf.eye(n)``, made in the function."""
    matrix = view.source(node, 0)
    if matrix is None or not matrix.type.startswith("MatrixDiag") or not along_rows(view, node):
        return False
    ones = view.source(matrix, 0)
    value = view.source(ones, 1) if ones is not None and ones.type == "Fill" else None
    return view.number(value) == 1.0 or (ones is not None and ones.type == "Const" and view.filled(ones) == 1.0)


def _by_product(view: View, node: Node) -> int | None:
    """The numbers of one-hot vectors whose length is an argument: the table that they are multiplied with tells it."""
    rows = view.elements(*node.inputs[0]) if node.type == "OneHot" else None
    for use in view.uses(node) if rows is not None else ():
        length = _inner(view, _past_casts(view, use))
        if length is not None and rows is not None:
            return rows * length
    return None


def _past_casts(view: View, use: Use) -> Use:
    for _ in range(_LONGEST):
        after = view.uses(use.node) if use.node.type == "Cast" else []
        if len(after) != 1:
            break
        use = after[0]
    return use


def _inner(view: View, use: Use) -> int | None:
    """The rows of the table in a product whose first factor is not turned around."""
    node = use.node
    if node.type not in _PRODUCTS - {"Einsum"} or use.number != 0 or node.flag("transpose_a") or node.flag("adj_x"):
        return None
    shape = view.shape(*node.inputs[1])
    length = shape[-1 if node.flag("transpose_b") or node.flag("adj_y") else -2] if shape and len(shape) > 1 else -1
    return length if length > 0 else None


def _ends(view: View, node: Node, way: tuple[Node, ...], made: int) -> tuple[list[_End], bool]:
    """Where a mask is summed up again, and whether it goes nowhere else."""
    if node.name in view.results or len(way) > _LONGEST:
        return [], False
    found: list[_End] = []
    every = True
    for use in view.uses(node):
        next_ = use.node
        if next_.type in _PRODUCTS:
            other = [owner for number, owner in enumerate(next_.inputs) if number != use.number]
            moved = _bytes(view, next_, other)
            ends, whole = [_End((*way, next_, *view.fused(next_)), moved)], True
        elif next_.type in _SUMS and use.number == 0:
            ends, whole = _summed(view, next_, way, made)
        elif (
            use.number == 0
            and (next_.type in UNARY or next_.type == "Transpose" or view.reshapes(next_))
            or next_.type in _WITH
            and _others_small(view, use)
        ):
            ends, whole = _ends(view, next_, (*way, next_), made)
        else:
            ends, whole = [], False
        found += ends
        every = every and whole
    return found, every and bool(found)


def _summed(view: View, node: Node, way: tuple[Node, ...], made: int) -> tuple[list[_End], bool]:
    """Sums of a mask itself are counts; those of a mask of classes by a constant factor are none of ours."""
    after = view.elements(node.name)
    if after is None or _WIDE * after > made:
        return [], False
    small = [owner for each in way if each.type in _WITH for owner in each.inputs if _small(view, owner, each)]
    return [_End((*way, node), _bytes(view, node, small))], True


def _bytes(view: View, node: Node, others: list[tuple[str, int]]) -> float:
    """Read and written by a lookup, or by sums by row: what goes in beside the mask, and what comes out, twice."""
    table = max((view.bytes(*owner) for owner in others), default=0)
    return 2.0 * view.bytes(node.name) + 2.0 * min(table, max(view.bytes(node.name), 1) * _WIDE)


def _others_small(view: View, use: Use) -> bool:
    """Whether all that a mask is combined with is smaller than what it makes: else no lookup takes its place."""
    others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
    return all(_small(view, owner, use.node) for owner in others)


def _small(view: View, owner: tuple[str, int], node: Node) -> bool:
    size, made = view.elements(*owner), view.elements(node.name)
    return size is not None and made is not None and _WIDE * size <= made
