"""Rows of a tensor that a graph copies: what copies them, and copies joined to other columns before a product."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit_rules.graph.cause import Cause

COPIES_MIN = Threshold(
    4,
    "copies",
    "minimum number of copies of each row, or of places for each place of an image",
    Chosen("what is saved must outweigh another order of the work"),
)
REPEATS = optable.names(kind="tile", differentiates=False)


class Copied(Cause, frozen=True, kw_only=True):
    """``times``: how often each row, or each place of a picture, goes through the same layers."""

    times: float

    @property
    def key(self) -> Hashable:
        """Repeated rows and enlarged pictures of one line are two causes."""
        return type(self), self.where


class JoinedCopies(Copied, frozen=True, kw_only=True):
    """``begin`` and ``end``: the columns of the copies; ``columns``: of all that is joined; ``units``: columns that the
    product makes."""

    begin: int
    end: int
    columns: int
    units: int


def find_joined_copies(view: View) -> Iterator[JoinedCopies]:
    """Yield copies of rows that are joined to other columns, if nothing but products with a matrix take what is joined.

    ``concat([a[index], b], -1) @ w`` is ``(a @ w[:n])[index] + b @ w[n:]``: a product of few rows, whose result is
    copied.
    """
    for node in view.forward:
        made = view.shape(node.name)
        if node.type != "ConcatV2" or not made or node.name in view.results or not is_float(node):
            continue
        axis = view.integers(view.source(node, len(node.inputs) - 1))
        products = _find_products(view, node)
        numbers = view.elements(node.name)
        if axis is None or axis[0] % len(made) != len(made) - 1 or not products or not numbers or made[-1] < 1:
            continue
        yield from _join(view, node, products, numbers // made[-1], made[-1])


def _join(view: View, node: Node, products: list[Node], rows: int, columns: int) -> Iterator[JoinedCopies]:
    units = sum((view.elements(each.name) or 0) // rows for each in products)
    width = view.bytes(node.name) // (rows * columns)
    flops = numbers = begin = 0
    copies: list[tuple[Node, int, int, float]] = []
    for owner in node.inputs[:-1]:
        each = (view.shape(*owner) or (-1,))[-1]
        made = _find_copy(view, owner)
        few = (view.elements(*made.inputs[0]) or 0) // each if made is not None and each > 0 else 0
        if made is not None and few and rows >= COPIES_MIN.value * few:
            copies.append((made, begin, begin + each, rows / few))
            flops += 2 * few * each * units
            numbers += few * (each + units) + 2 * rows * units
        else:
            flops += 2 * rows * each * units
            numbers += 2 * rows * each
        begin += each
    if not copies or begin != columns or units < 1:
        return
    gone = [each for each, *_ in copies if _only_joined(view, each, node)]
    largest = max(copies, key=lambda copy: copy[2] - copy[1])
    lines = [each.place for each in (node, *products, *(copy[0] for copy in copies)) if each.place is not None]
    yield JoinedCopies(
        where=lines[0] if lines else None,
        places=list(dict.fromkeys(lines)),
        operations=[*(each.name for each in gone), node.name, *(each.name for each in products)],
        flops=flops,
        bytes=width * (numbers + 2 * rows * units),
        times=largest[3],
        begin=largest[1],
        end=largest[2],
        columns=columns,
        units=units,
    )


def _find_products(view: View, node: Node) -> list[Node]:
    """The products with a matrix that alone take what is joined; none if something else takes it."""
    found, pending = [], [node]
    columns = (view.shape(node.name) or (-1,))[-1]
    while pending:
        for use in view.uses(pending.pop()):
            made = view.shape(use.node.name)
            keeps = view.reshapes(use.node) and use.node.name not in view.results
            # With all sizes open, as Keras makes rows of what it multiplies, the product tells the columns.
            if use.number == 0 and keeps and made and made[-1] in (columns, -1):
                pending.append(use.node)
                continue
            product = product_of(view, use.node)
            if use.number != 0 or product is None or not product.left:
                return []
            summed = [label for label in product.left if label not in product.out]
            matrix = len(product.right) == 2 and set(product.right) & set(product.left) == {product.left[-1]}
            if summed != [product.left[-1]] or not matrix or product.sizes[summed[0]] != columns:
                return []
            found.append(use.node)
    return found


def _find_copy(view: View, owner: tuple[str, int]) -> Node | None:
    """The operation that copies rows of at least two axes for an input, past what gives the rows another form."""
    node = view.made(*owner)
    columns = (view.shape(*owner) or (-1,))[-1]
    for _ in range(FOLLOWED):
        if node is None or (view.shape(node.name) or (-1,))[-1] != columns:
            return None
        if makes_copies(view, node):
            before = view.shape(*node.inputs[0])
            stacked = node.attr("axis") if node.type == "Pack" else None
            last = stacked is not None and stacked.i in (-1, len(before or ()))
            return node if before and len(before) > 1 and before[-1] == columns and not last else None
        if not view.reshapes(node):
            return None
        node = view.source(node, 0)
    return None


def _only_joined(view: View, copy: Node, joined: Node) -> bool:
    """Whether nothing else takes the copies, so that they go."""
    pending = [copy]
    while pending:
        here = pending.pop()
        if here.name in view.results:
            return False
        for use in view.uses(here):
            if use.node is not joined and not view.reshapes(use.node):
                return False
            pending += [use.node] if use.node is not joined else []
    return True


def makes_copies(view: View, node: Node) -> bool:
    """Tell whether a node makes copies of its first input: by copying the input alone, by a lookup of more rows than
    exist, or by joining one tensor to itself many times.
    """
    if node.type in REPEATS:
        return True
    if node.type == "GatherV2":
        return names_rows(view, node)
    if node.type in ("Pack", "ConcatV2"):
        return len({view.made(*owner) for owner in node.inputs[: -1 if node.type == "ConcatV2" else None]}) == 1
    if node.type == "Mul" and len(node.inputs) == 2:
        return view.number(view.source(node, 1)) is None and _is_ones(view, node.inputs[1])
    return False


def _is_ones(view: View, owner: tuple[str, int]) -> bool:
    """``tf.ones`` of some shape: a number that a Fill, or a constant of one value, holds."""
    node = view.made(*owner)
    if node is not None and node.type == "Fill":
        return view.number(view.source(node, 1)) == 1.0
    return node is not None and node.type == "Const" and view.filled(node) == 1.0


def is_float(node: Node) -> bool:
    """Whether it makes numbers that a network computes with, and no indices."""
    return node.outputs[0].dtype.startswith(("float", "bfloat"))
