"""GRF010: a one-hot mask, or a mask of all comparisons, is used where a gather or a segment sum would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import Use, View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

MASK_WIDER_MIN = Threshold(
    8,
    "ratio",
    "minimum ratio of a mask's numbers to the numbers that it is made of",
    Chosen("few classes cost nothing"),
)
WAY_MAX = Threshold(
    8, "operations", "maximum number of operations from a mask to its use", Chosen("it bounds the search")
)
_PRODUCTS = optable.names(kind="product")
_MATMULS = _PRODUCTS - {"Einsum"}
#: The reductions that can be made by segments instead.
_SUMS = frozenset(name for name in optable.names(kind="reduction") if optable.row(f"Segment{name}").known)
_MASKS_OTHERS = optable.names(kind="select") | {"Mul", "MulNoNan"}
#: Comparisons that tell which of two numbers is larger.
_ORDERS = frozenset(name for name in optable.names(kind="comparison") if not optable.row(name).commutative)
#: Operations that make a vector for each index, or for the indices of a row.
_VECTORS = optable.names(kind=("one-hot", "bincount", "gather"))
_MAKES_MASKS = _VECTORS | _ORDERS | {"Equal"}

_LOOK_UP = (
    "Look the rows up: tf.gather(table, ids) instead of tf.one_hot(ids, n) @ table. Or, instead of a Dense layer on "
    "one-hot vectors: keras.layers.Embedding(n, width, embeddings_initializer='glorot_uniform')(ids)."
)
_SUM_UP = (
    "Sum by row: tf.math.unsorted_segment_sum(values, ids, n) instead of the mask, the multiplication and the sum. Or, "
    "for counts: tf.math.bincount(ids, minlength=n). Or, if the sum is over the classes: tf.gather(values, ids)."
)
_COUNT = (
    "Search instead of comparing all pairs: tf.searchsorted(tf.sort(a), b) counts the numbers of a below each of b. "
    "Remove tf.sort if a is sorted, as a running sum is. Or, to count equal numbers too: side='right'."
)


class Mask(Cause, frozen=True, kw_only=True):
    """A mask of so many ``numbers``, made of so many ``indices``. ``one_hot``: it has a vector for each index.
    ``ordered``: it tells which of two numbers is larger. ``multiplied``: it goes into a product."""

    numbers: int
    indices: int
    one_hot: bool = False
    ordered: bool = False
    multiplied: bool = False


class _End(NamedTuple):
    """A way from a mask to what takes it back, and the bytes that a lookup, or sums by row, move instead."""

    way: tuple[Node, ...]
    bytes: float


class DenseMask(GraphRule[Mask]):
    """Finds ``one_hot(ids, n) @ table`` (also with vectors that are counts or rows of the identity), sums over
    ``equal(ids[:, None], range(n))`` with what the mask selects, and counts over ``a[None] < b[:, None]``."""

    code = "GRF010"
    title = "One-hot mask where tf.gather or segment sum suffices"

    def find(self, view: View) -> Iterator[Mask]:
        """Yield the masks that are far larger than what they are made of and what they end in."""
        for node in view.forward:
            numbers = _count_mask(view, node)
            if numbers is None:
                continue
            ends, whole = _find_ends(view, node, (), numbers)
            if node.type in _ORDERS:  # the values that it selects are no count
                ends = [end for end in ends if not any(each.type in _MASKS_OTHERS | _PRODUCTS for each in end.way)]
            if not ends:
                continue
            places = [each.place for end in ends for each in reversed(end.way) if each.place is not None]
            places += [node.place] if node.place is not None else []
            way = list(dict.fromkeys(each.name for end in ends for each in end.way))
            yield Mask(
                where=node.place or (places[0] if places else None),
                places=list(dict.fromkeys(places)),
                operations=[*([node.name] if whole else []), *way],
                bytes=sum(end.bytes for end in ends),
                numbers=numbers,
                indices=max(view.elements(*owner) or 0 for owner in _list_indices(node)),
                one_hot=node.type in _VECTORS,
                ordered=node.type in _ORDERS,
                multiplied=any(each.type in _PRODUCTS for end in ends for each in end.way),
            )

    def report(self, evidence: Evidence, part: Part[Mask]) -> Finding:
        """Advise a lookup, sums by segment, or a search in sorted numbers."""
        cause = part.cause
        made = "One-hot mask" if cause.one_hot else "Comparison mask"
        looked_up = cause.one_hot and cause.multiplied
        instead = "tf.searchsorted" if cause.ordered else "tf.gather" if looked_up else "tf.math.unsorted_segment_sum"
        return self.finding(
            evidence,
            part,
            f"{made} of {often(cause.numbers)} numbers where {instead} suffices",
            _COUNT if cause.ordered else _LOOK_UP if looked_up else _SUM_UP,
            "Only the count of smaller numbers is used. A search in sorted numbers takes some twenty comparisons for "
            "each."
            if cause.ordered
            else "Nearly all numbers of the mask are zero. A lookup or a sum by row reads only rows that the indices "
            "name, and so does its gradient.",
            count("numbers" if cause.ordered else "indices", cause.indices),
            count("numbers of the mask", cause.numbers),
        )


def _count_mask(view: View, node: Node) -> int | None:
    """The numbers of a mask; None for anything else, or if the mask is too small to matter."""
    if node.type not in _MAKES_MASKS or not node.inputs:
        return None
    if optable.row(node.type).kind == "gather" and not _looks_up_identity(view, node):
        return None
    made = view.elements(node.name) or _count_by_table(view, node)
    sizes = [view.elements(*owner) for owner in _list_indices(node)]
    if made is None or None in sizes or made < MASK_WIDER_MIN.value * max(size or 0 for size in sizes):
        return None
    whole = view.graph.type_of(*_list_indices(node)[0]).dtype.startswith(("int", "uint"))
    return made if whole or node.type in _ORDERS else None


def _list_indices(node: Node) -> list[tuple[str, int]]:
    """The tensors that a mask is made of: indices, or the two sides of a comparison."""
    if optable.row(node.type).kind == "gather":
        return node.inputs[1:2]
    return node.inputs[: 2 if node.type not in _VECTORS else 1]


def _looks_up_identity(view: View, node: Node) -> bool:
    """Whether a lookup takes rows of ``tf.eye(n)``, made in the function."""
    matrix = view.source(node, 0)
    if matrix is None or not matrix.type.startswith("MatrixDiag") or not names_rows(view, node):
        return False
    ones = view.source(matrix, 0)
    value = view.source(ones, 1) if ones is not None and ones.type == "Fill" else None
    return view.number(value) == 1.0 or (ones is not None and ones.type == "Const" and view.filled(ones) == 1.0)


def _count_by_table(view: View, node: Node) -> int | None:
    """The numbers of one-hot vectors whose length is an argument: the table that multiplies them tells the length."""
    rows = view.elements(*node.inputs[0]) if node.type == "OneHot" else None
    for use in view.uses(node) if rows is not None else ():
        length = _inner_length(view, _skip_casts(view, use))
        if length is not None and rows is not None:
            return rows * length
    return None


def _skip_casts(view: View, use: Use) -> Use:
    for _ in range(int(WAY_MAX.value)):
        after = view.uses(use.node) if use.node.type == "Cast" else []
        if len(after) != 1:
            break
        use = after[0]
    return use


def _inner_length(view: View, use: Use) -> int | None:
    """The rows of the table in a matmul whose first factor is not transposed."""
    node = use.node
    if node.type not in _MATMULS or use.number != 0 or node.flag("transpose_a") or node.flag("adj_x"):
        return None
    shape = view.shape(*node.inputs[1])
    length = shape[-1 if node.flag("transpose_b") or node.flag("adj_y") else -2] if shape and len(shape) > 1 else -1
    return length if length > 0 else None


def _find_ends(view: View, node: Node, way: tuple[Node, ...], made: int) -> tuple[list[_End], bool]:
    """Find the operations that sum up a mask, and whether all uses of the mask end so."""
    if node.name in view.results or len(way) > WAY_MAX.value:
        return [], False
    found: list[_End] = []
    every = True
    for use in view.uses(node):
        next_ = use.node
        if next_.type in _PRODUCTS:
            other = [owner for number, owner in enumerate(next_.inputs) if number != use.number]
            ends, whole = [_End((*way, next_, *view.fused(next_)), _count_bytes(view, next_, other))], True
        elif next_.type in _SUMS and use.number == 0:
            ends, whole = _sum_mask(view, next_, way, made)
        elif (
            use.number == 0
            and (next_.type in UNARY or next_.type == "Transpose" or view.reshapes(next_))
            or next_.type in _MASKS_OTHERS
            and _selects_less(view, use)
        ):
            ends, whole = _find_ends(view, next_, (*way, next_), made)
        else:
            ends, whole = [], False
        found += ends
        every = every and whole
    return found, every and bool(found)


def _sum_mask(view: View, node: Node, way: tuple[Node, ...], made: int) -> tuple[list[_End], bool]:
    """The end that a sum is. A sum over few classes makes too little of the mask smaller to be reported."""
    after = view.elements(node.name)
    if after is None or MASK_WIDER_MIN.value * after > made:
        return [], False
    small = [
        owner for each in way if each.type in _MASKS_OTHERS for owner in each.inputs if _is_smaller(view, owner, each)
    ]
    return [_End((*way, node), _count_bytes(view, node, small))], True


def _count_bytes(view: View, node: Node, others: list[tuple[str, int]]) -> float:
    """Count the bytes of a lookup, or of sums by row: twice the inputs (without the mask) and the output."""
    table = max((view.bytes(*owner) for owner in others), default=0)
    return 2.0 * view.bytes(node.name) + 2.0 * min(table, max(view.bytes(node.name), 1) * MASK_WIDER_MIN.value)


def _selects_less(view: View, use: Use) -> bool:
    """Whether all that a mask is combined with is smaller than the result: else no lookup does the same."""
    others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
    return all(_is_smaller(view, owner, use.node) for owner in others)


def _is_smaller(view: View, owner: tuple[str, int], node: Node) -> bool:
    size, made = view.elements(*owner), view.elements(node.name)
    return size is not None and made is not None and MASK_WIDER_MIN.value * size <= made
