"""GRF011: a product of three matrices in an order that costs far more than another one, or for its diagonal alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import Product, product_of
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

ORDER_LEFT = Threshold(
    0.5, "share", "maximum share of the arithmetic that another order of the matmuls leaves", Chosen("half")
)
DIAGONAL_MOVES = Threshold(
    3,
    "ratio",
    "ratio of the bytes that a diagonal alone moves to those of the factors",
    Derived("it reads both, and writes and reads as many products of their numbers"),
)
SCALES_MAX = Threshold(
    4, "operations", "maximum number of operations that scale, between two matmuls", Chosen("it bounds the search")
)
#: A product with a number may stand between two matmuls: it moves past either.
_SCALES = optable.names(trait="scales")


class CostlyOrder(Cause, frozen=True, kw_only=True):
    """``arithmetic`` and ``needed``: FLOPs of a call now and in the other order. ``made`` and ``between``: numbers
    that stand between the two products now and then. ``diagonal``: the diagonal is all that is used."""

    arithmetic: float
    needed: float
    made: int
    between: int
    diagonal: bool = False


class MatmulOrder(GraphRule[CostlyOrder]):
    """Finds pairs of products of which the second one, or sums over an axis, use the result of the first one and
    nothing else does; also products that go into ``tf.linalg.diag_part`` or ``trace`` alone."""

    code = "GRF011"
    title = "tf.matmul chain multiplied in a costly order"
    remedy = ReplaceOps("order")

    def find(self, view: View) -> Iterator[CostlyOrder]:
        """Yield the products of which another order leaves half of the arithmetic or less."""
        for node in view.forward:
            if node.type.startswith("MatrixDiagPart") and (found := _find_diagonal(view, node)) is not None:
                yield found
            second = product_of(view, node)
            for number in (0, 1) if second is not None else ():
                source, scales = _find_source(view, node, number)
                first = product_of(view, source) if source is not None else None
                if first is not None and second is not None:
                    found = _compare_orders(view, first, second, number, scales)
                    if found is not None:
                        yield found

    def report(self, evidence: Evidence, part: Part[CostlyOrder]) -> Finding:
        """Advise the other order, or the diagonal alone."""
        cause = part.cause
        if cause.diagonal:
            return self.finding(
                evidence,
                part,
                f"tf.matmul computes {often(cause.made)} numbers for their diagonal",
                "Replace tf.linalg.diag_part(a @ b) with tf.reduce_sum(a * tf.transpose(b), -1). For x @ A @ "
                "tf.transpose(x): tf.reduce_sum((x @ A) * x, -1). For tf.linalg.trace(a @ b): the sum of either.",
                "Only the diagonal of the product is used; the rest is computed and written, forward and backward. "
                "Results differ only by rounding.",
                count("FLOPs of the product, forward", cause.arithmetic),
                count("FLOPs of its diagonal", cause.needed),
            )
        return self.finding(
            evidence,
            part,
            f"tf.matmul chain needs {often(cause.arithmetic / max(cause.needed, 1.0))} times the arithmetic of "
            "another order",
            "Multiply the other two first: A @ (B @ v) instead of (A @ B) @ v, q @ (tf.transpose(k) @ v) instead of "
            "(q @ tf.transpose(k)) @ v. A sum of rows moves inside too: tf.reduce_sum(A @ B, -1) is "
            "A @ tf.reduce_sum(B, -1).",
            f"The first product makes {often(cause.made)} intermediate numbers; the other order makes "
            f"{often(cause.between)}. Gradients follow the same order, and results differ only by rounding.",
            count("FLOPs of both products, forward", cause.arithmetic),
            count("FLOPs in the other order", cause.needed),
        )


def _find_diagonal(view: View, node: Node) -> CostlyOrder | None:
    made = view.source(node, 0)
    product = product_of(view, made) if made is not None else None
    main = len(node.inputs) < 2 or view.integers(view.source(node, 1)) in ([0], [0, 0])
    if made is None or product is None or not main or made.name in view.results:
        return None
    if {use.node.name for use in view.uses(made)} != {node.name} or len(product.out) < 2:
        return None
    rows, columns = (product.sizes[label] for label in product.out[-2:])
    needed = product.flops / max(rows, columns)
    if needed > ORDER_LEFT.value * product.flops:
        return None
    places = [each.place for each in (made, node) if each.place is not None]
    return CostlyOrder(
        where=places[0] if places else None,
        places=places,
        operations=[made.name, node.name],
        flops=needed,
        bytes=DIAGONAL_MOVES.value * sum(view.bytes(*owner) for owner in made.inputs) + view.bytes(node.name),
        arithmetic=product.flops,
        needed=needed,
        made=view.elements(made.name) or 0,
        between=0,
        diagonal=True,
    )


def _find_source(view: View, node: Node, number: int) -> tuple[Node | None, list[Node]]:
    """The operation that makes an input, and the products with one number in between; None if something else is."""
    scales: list[Node] = []
    source = view.source(node, number)
    while source is not None and source.type in _SCALES and len(scales) < SCALES_MAX.value:
        sizes = [view.elements(*owner) for owner in source.inputs]
        if sizes.count(1) != 1 or (source.type != "Mul" and sizes[1] != 1):
            return None, []
        scales.append(source)
        source = view.source(source, 0 if sizes[1] == 1 else 1)
    return source, scales


def _compare_orders(view: View, first: Product, second: Product, number: int, scales: list[Node]) -> CostlyOrder | None:
    """The cause, if the three tensors can be multiplied in an order that costs far less. ``number``: the input of the
    second product that the first one makes."""
    known = {second.node.name, *(node.name for node in scales)}
    sums = _find_sums(view, first.node, known)
    operand = second.left if number == 0 else second.right
    if sums is None or any(_find_sums(view, node, known) is None for node in scales) or len(first.out) != len(operand):
        return None
    # One set of labels for both: the first result is an operand of the second product.
    renamed = dict(zip(first.out, operand, strict=True))
    fresh = iter("ABCDEFGHIJKLMNOP")
    for label in dict.fromkeys(first.left + first.right):
        renamed.setdefault(label, next(fresh))
    sizes = second.sizes | {renamed[label]: size for label, size in first.sizes.items()}
    operands = ["".join(renamed[each] for each in labels) for labels in (first.left, first.right)]
    operands.append(second.right if number == 0 else second.left)
    now = first.flops + second.flops
    lower, between = min(
        _cost_order(operands, order, second.out, sizes) for order in itertools.permutations(range(len(operands)))
    )
    if lower > ORDER_LEFT.value * now:
        return None
    moved = sum(view.bytes(*owner) for each in (first, second) for owner in each.node.inputs)
    width = view.bytes(first.node.name) / max(view.elements(first.node.name) or 0, 1)
    places = [node.place for node in (second.node, first.node) if node.place is not None]
    return CostlyOrder(
        where=places[0] if places else None,
        places=places,
        operations=[node.name for node in (first.node, second.node, *sums, *scales)],
        flops=lower,
        bytes=moved - view.bytes(first.node.name) + 2 * width * between + view.bytes(second.node.name),
        arithmetic=now,
        needed=lower,
        made=view.elements(first.node.name) or 0,
        between=between,
    )


def _find_sums(view: View, node: Node, known: set[str]) -> list[Node] | None:
    """The sums over axes that use a product next to the ``known`` operations: they move past a product too. None if
    something needs the result itself."""
    if node.name in view.results:
        return None
    others = [use for use in view.uses(node) if use.node.name not in known]
    sums = [use.node for use in others if use.node.type in ("Sum", "Mean") and not use.number]
    return sums if len(sums) == len(others) else None


def _cost_order(operands: list[str], order: tuple[int, ...], out: str, sizes: dict[str, int]) -> tuple[float, int]:
    """FLOPs of the product of the first two operands and then with the third; and the numbers in between."""
    one, two, three = (operands[number] for number in order)
    joined = set(one) | set(two)
    kept = joined & (set(three) | set(out))
    between = math.prod(sizes[label] for label in kept)
    flops = math.prod(sizes[label] for label in joined) + math.prod(sizes[label] for label in kept | set(three))
    return 2.0 * flops, between
