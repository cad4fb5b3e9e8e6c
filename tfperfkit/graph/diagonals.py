"""Tensors of which only the diagonal of two axes is used: what makes a whole matrix for ``tf.linalg.diag_part``."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.view import Use, View

Axes = tuple[int, int]

_TAKES = optable.names(trait="takes-diagonal")
_EACH = (
    UNARY
    | BINARY
    | optable.names(
        kind=("clip", "sum-of-many", "comparison", "logical", "predicate", "select", "ternary"), axis="each"
    )
)
_REDUCES = optable.names(kind="reduction", axis="reduced")
#: Made of a size alone, or of a smaller tensor: one number of it costs nothing.
_SPREAD = optable.names(kind="fill")


class DiagonalOnly(NamedTuple):
    """``made``: the operations, in order, of whose results only the diagonal is used, for ``reads``, which takes it.
    ``size``: of the diagonal; -1 if it is open."""

    reads: Node
    made: list[Node]
    size: int


def find_diagonals(view: View) -> list[DiagonalOnly]:
    """Find the operations that make more than the diagonal for operations that read nothing else.

    Nothing else may use a result, neither the function's caller. An operation that works element by element needs only
    the diagonal of what it takes; a product, only the rows that meet there. Everything before an operation that mixes
    rows (a decomposition, a scan) is needed whole.
    """
    readers = [node for node in view.forward if _takes_diagonal(view, node)]
    if not readers:
        return []
    wanted: dict[str, Axes] = {}
    reader_of: dict[str, Node] = {}
    for node in reversed(view.forward):
        uses = view.uses(node)
        if node.name in view.results or not uses or len(node.outputs) != 1:
            continue
        needs = {_wanted_by(view, use, wanted) for use in uses}
        axes = needs.pop() if len(needs) == 1 else None
        if axes is None or not _makes_pairs(view, node, axes):
            continue
        wanted[node.name] = axes
        reader_of[node.name] = reader_of.get(uses[0].node.name, uses[0].node)
    found = []
    for reader in readers:
        made = [view.nodes[name] for name in reversed(wanted) if reader_of[name] is reader]
        if any(node.type in _EACH | _REDUCES or product_of(view, node) for node in made):
            sizes = [size for node in made if (size := _size(view, node, wanted[node.name])) > 0]
            found.append(DiagonalOnly(reader, made, max(sizes, default=-1)))
    return found


def _takes_diagonal(view: View, node: Node) -> bool:
    """Whether an operation takes the main diagonal of the last two axes."""
    if node.type == "Einsum" and len(node.inputs) == 1:
        return _axes_of_trace(node) is not None
    shape = view.shape(*node.inputs[0]) if node.type in _TAKES else None
    if not shape or (optable.row(node.type).axis == "mixed" and len(shape) != 2):
        return False
    # The number of a diagonal, or of the first and the last, comes second, if it is asked for.
    return len(node.inputs) == 1 or view.integers(view.source(node, 1)) in ([0], [0, 0])


def _axes_of_trace(node: Node) -> Axes | None:
    """The two axes of one label, and no other such pair: ``ii->i`` or ``bii->b``."""
    labels = node.text_attr("equation").replace(" ", "").partition("->")[0]
    twice = {label for label in labels if labels.count(label) > 1}
    if "." in labels or "," in labels or len(twice) != 1 or len(labels) - len(set(labels)) != 1:
        return None
    (label,) = twice
    return labels.index(label), labels.rindex(label)


def _wanted_by(view: View, use: Use, wanted: dict[str, Axes]) -> Axes | None:
    """Return the axes of an operation's input of which only the diagonal matters to it; None if all may matter."""
    node, number = use
    before = view.shape(*node.inputs[number])
    if before is None:
        return None
    if number == 0 and _takes_diagonal(view, node):
        return _axes_of_trace(node) if node.type == "Einsum" else (len(before) - 2, len(before) - 1)
    axes, made = wanted.get(node.name), view.shape(node.name)
    if axes is None or made is None or product_of(view, node) is not None:
        return None
    back = _place_of_axes(view, node, number, before, made)
    places = (back(axes[0]), back(axes[1])) if back is not None else (None, None)
    first, second = places
    return (min(first, second), max(first, second)) if first is not None and second is not None else None


def _place_of_axes(
    view: View, node: Node, number: int, before: tuple[int, ...], made: tuple[int, ...]
) -> Callable[[int], int | None] | None:
    """Return where an axis of the result is in an input; None for an operation that works along axes."""
    if node.type in _EACH:
        less = len(made) - len(before)
        return lambda axis: axis - less if axis >= less and before[axis - less] != 1 else None
    if node.type == "Pack":
        given = node.attr("axis")
        stacked = (given.i if given is not None else 0) % len(made)
        return lambda axis: None if axis == stacked else axis - (axis > stacked)
    if node.type == "ConcatV2" and number < len(node.inputs) - 1:
        along = view.integers(view.source(node, len(node.inputs) - 1))
        return (lambda axis: None if axis == along[0] % len(made) else axis) if along else None
    if number != 0:
        return None
    if node.type == "Transpose":
        order = view.integers(view.source(node, 1))
        return (lambda axis: order[axis]) if order and len(order) == len(made) else None
    if node.type in _REDUCES:
        gone = view.axes(node)
        if gone is None:
            return None
        left = list(range(len(before))) if node.flag("keep_dims") else [a for a in range(len(before)) if a not in gone]
        return lambda axis: left[axis] if axis < len(left) and left[axis] not in gone else None
    if view.reshapes(node):
        one, other = ([at for at, size in enumerate(shape) if size != 1] for shape in (before, made))
        same = [before[at] for at in one] == [made[at] for at in other] and [before[at] for at in one].count(-1) < 2
        return (lambda axis: one[other.index(axis)] if axis in other else None) if same else None
    return None


def _makes_pairs(view: View, node: Node, axes: Axes) -> bool:
    """Whether an operation makes numbers that are not on the diagonal, so that it can leave them out."""
    made = view.shape(node.name)
    if made is None or max(axes) >= len(made) or 1 in (made[axes[0]], made[axes[1]]):
        return False
    product = product_of(view, node)
    if product is not None:
        rows, columns = (product.out[axis] for axis in axes)
        return (rows in product.left) != (rows in product.right) and (
            (columns in product.left) != (columns in product.right)
            and (rows in product.left) != (columns in product.left)
        )
    return node.type in _EACH | _REDUCES | _SPREAD | {"Pack", "ConcatV2", "Transpose"} or view.reshapes(node)


def _size(view: View, node: Node, axes: Axes) -> int:
    made = view.shape(node.name) or ()
    return min((made[axis] for axis in axes if axis < len(made)), default=-1)
