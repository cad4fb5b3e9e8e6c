"""Products of three tensors in an order that costs far more than another one: ``(A B) v`` in place of ``A (B v)``; and
those of which the diagonal is all that is used."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import flattened
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "order"
#: What may stand between two products, or take the first one's result beside the second: it moves past a product.
_SCALES = frozenset({"Mul", "RealDiv", "Div"})
_MAX_RANK = 8
_BATCHED = frozenset({"BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})


class Product(NamedTuple):
    """A product as an einsum: a label for each axis of what goes in and comes out, and the labels' sizes."""

    node: Node
    left: str
    right: str
    out: str
    sizes: dict[str, int]

    @property
    def flops(self) -> float:
        return 2.0 * math.prod(self.sizes.values())


def product_of(view: View, node: Node) -> Product | None:
    """A matrix product, batched or an einsum of two tensors; None for anything else, or where sizes are open."""
    if len(node.inputs) != 2:
        return None
    left, right = view.shapes(node)
    if left is None or right is None:
        return None
    if node.type == "Einsum":
        labels = node.text_attr("equation").replace(" ", "")
        if "..." in labels or labels.count(",") != 1 or "->" not in labels:
            return None
        both, out = labels.split("->")
        first, second = both.split(",")
    elif node.type == "MatMul":
        left = flattened(node, *(view.size(*owner) for owner in node.inputs)) or left
        first = "ba" if node.flag("transpose_a") else "ab"
        second, out = ("cb" if node.flag("transpose_b") else "bc"), "ac"
    elif node.type in _BATCHED and 2 <= len(right) <= len(left) <= _MAX_RANK and right[:-2] in (left[:-2], ()):
        outer = "ijklmn"[: len(left) - 2]
        first = outer + ("ba" if node.flag("adj_x") else "ab")
        second, out = outer[: len(right) - 2] + ("cb" if node.flag("adj_y") else "bc"), outer + "ac"
    else:
        return None
    sizes: dict[str, int] = {}
    for names, shape in ((first, left), (second, right)):
        if len(names) != len(shape) or len(set(names)) != len(names):
            return None
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, size))
    return None if min(sizes.values(), default=-1) < 0 else Product(node, first, second, out, sizes)


def products(view: View) -> Iterator[Wasted]:
    """Pairs of products, the first one's result used for nothing else than the second, or sums over an axis; products
    whose result goes into ``tf.linalg.diag_part`` or ``trace`` and nowhere else."""
    for node in view.forward:
        if node.type.startswith("MatrixDiagPart") and (found := _diagonal(view, node)) is not None:
            yield found
        second = product_of(view, node)
        if second is None:
            continue
        for number in (0, 1):
            inner = _behind(view, node, number)
            first = product_of(view, inner[0]) if inner is not None else None
            if first is not None and inner is not None and (found := _of(view, first, second, number, inner[1])):
                yield found


def _diagonal(view: View, node: Node) -> Wasted | None:
    made = view.source(node, 0)
    product = product_of(view, made) if made is not None else None
    main = len(node.inputs) < 2 or view.integers(view.source(node, 1)) in ([0], [0, 0])
    if made is None or product is None or not main or made.name in view.results:
        return None
    if {use.node.name for use in view.uses(made)} != {node.name} or len(product.out) < 2:
        return None
    rows, columns = (product.sizes[label] for label in product.out[-2:])
    needed = product.flops / max(rows, columns)
    if needed > numbers.ORDER_LEFT.value * product.flops:
        return None
    places = [each.place for each in (made, node) if each.place is not None]
    moved = sum(view.elements(*owner) or 0 for owner in made.inputs)
    return Wasted(
        kind=KIND,
        where=places[0] if places else None,
        places=places,
        operations=[made.name, node.name],
        flops=needed,
        bytes=4.0 * (3 * moved + (view.elements(node.name) or 0)),
        figures={
            "flops": product.flops,
            "needed": needed,
            "made": view.elements(made.name) or 0,
            "between": moved,
            "diagonal": 1.0,
        },
    )


def _behind(view: View, node: Node, number: int) -> tuple[Node, list[Node]] | None:
    """The node behind an input, past products with a number, which are given too."""
    passed: list[Node] = []
    source = view.source(node, number)
    while source is not None and source.type in _SCALES and len(passed) < 4:
        sizes = [view.elements(*owner) for owner in source.inputs]
        if sizes.count(1) != 1 or (source.type != "Mul" and sizes[1] != 1):
            return None
        passed.append(source)
        source = view.source(source, 0 if sizes[1] == 1 else 1)
    return (source, passed) if source is not None else None


def _of(view: View, first: Product, second: Product, number: int, passed: list[Node]) -> Wasted | None:
    others = _others(view, first.node, {second.node.name, *(node.name for node in passed)})
    others = others if others is None else [*others, *passed]
    if others is None or any(_others(view, node, {second.node.name, *_names(passed)}) is None for node in passed):
        return None
    # One set of labels for both: the first one's result is the second one's operand.
    renamed = dict(zip(first.out, second.left if number == 0 else second.right, strict=False))
    if len(first.out) != len(second.left if number == 0 else second.right):
        return None
    fresh = iter("ABCDEFGHIJKLMNOP")
    for label in dict.fromkeys(first.left + first.right):
        renamed.setdefault(label, next(fresh))
    sizes = second.sizes | {renamed[label]: size for label, size in first.sizes.items()}
    operands = ["".join(renamed[each] for each in labels) for labels in (first.left, first.right)]
    operands.append(second.right if number == 0 else second.left)
    now = first.flops + second.flops
    lower, between = min(_cost(operands, order, second.out, sizes) for order in itertools.permutations(range(3)))
    if lower > numbers.ORDER_LEFT.value * now:
        return None
    moved = sum(view.elements(*owner) or 0 for each in (first, second) for owner in each.node.inputs)
    made = view.elements(first.node.name) or 0
    places = [each.place for each in (second.node, first.node) if each.place is not None]
    return Wasted(
        kind=KIND,
        where=places[0] if places else None,
        places=places,
        operations=[first.node.name, second.node.name, *_names(others)],
        flops=lower,
        bytes=4.0 * (moved - made + 2 * between + (view.elements(second.node.name) or 0)),
        figures={"flops": now, "needed": lower, "made": made, "between": between},
    )


def _names(nodes: list[Node]) -> list[str]:
    return [node.name for node in nodes]


def _others(view: View, node: Node, known: set[str]) -> list[Node] | None:
    """What takes a product's result beside the second product: sums over axes, which move past a product too. None
    where something needs the result itself."""
    if node.name in view.results:
        return None
    found = []
    for use in view.uses(node):
        if use.node.name in known:
            continue
        if use.node.type not in ("Sum", "Mean") or use.number:
            return None
        found.append(use.node)
    return found


def _cost(operands: list[str], order: tuple[int, ...], out: str, sizes: dict[str, int]) -> tuple[float, int]:
    """FLOPs of the first two operands' product and then that with the third; and the numbers in between."""
    one, two, three = (operands[number] for number in order)
    joined = set(one) | set(two)
    kept = joined & (set(three) | set(out))
    between = math.prod(sizes[label] for label in kept)
    return (
        2.0 * math.prod(sizes[label] for label in joined)
        + 2.0 * math.prod(sizes[label] for label in kept | set(three)),
        between,
    )
