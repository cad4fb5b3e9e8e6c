"""All positions of a sequence go through layers that take each alone, and few of the results are used."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.hot import one_hot
from tfperfkit.graph.model import Node
from tfperfkit.graph.products import product_of
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.slices import taken, taken_count
from tfperfkit.graph.view import Use, View
from tfperfkit_probes.ops.model import Wasted

KIND = "positions"
#: Positions: the second axis, between examples and numbers. Of fewer there is little to gain.
_AXIS, _MIN_POSITIONS = 1, 4
_MAX_OPERATIONS = 50
_ALONE = UNARY | {"BiasAdd", "Softmax", "LogSoftmax"}


def positions(view: View) -> Iterator[Wasted]:
    """By slices and lookups along the second axis, of which nothing else takes the tensor, behind a product with one
    matrix for all positions."""
    for node in view.forward:
        shape = view.shape(node.name)
        if not shape or len(shape) != 3 or shape[_AXIS] < _MIN_POSITIONS or node.name in view.results:
            continue
        uses = view.uses(node)
        parts = [_used(view, use, shape[_AXIS]) for use in uses]
        if not parts or None in parts:
            continue
        fixed = {at for part in parts if isinstance(part, range) for at in part}
        named = sum(part for part in parts if isinstance(part, int))
        used = len(fixed) + named
        region = _computed(view, node, shape[_AXIS]) if used <= shape[_AXIS] / 2 else []
        if not any(product_of(view, each) for each in region):
            continue
        places = [each.place for each in (*region, *(use.node for use in uses)) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=[each.name for each in region],
            left=used / shape[_AXIS],
            figures={"all": float(shape[_AXIS]), "used": float(used), "named": float(named)},
        )


def _used(view: View, use: Use, length: int) -> range | int | None:
    """The positions that are taken, or of those that indices name how many; None where it may be all."""
    node = use.node
    if node.type == "Unpack" and node.attr("axis") is not None and node.attr("axis").i == _AXIS:
        taken_out = [at for at in range(len(node.outputs)) if view.uses(node, at)]
        return len(taken_out) if node.name not in view.results and taken_out else None
    if node.type == "Mul":
        # One of each sequence, times one, the others times zero, added up.
        other = node.inputs[1 - use.number]
        sums = {each.node.type for each in view.uses(node)} == {"Sum"} and node.name not in view.results
        along = all(view.axes(each.node) == (_AXIS,) for each in view.uses(node)) if sums else False
        shape = view.shape(*other)
        return 1 if along and shape and shape[1:] == (length, 1) and one_hot(view, view.made(*other)) == 1 else None
    if use.number:
        return None
    part = taken(view, node, length, _AXIS)
    return range(*part) if part is not None else taken_count(view, node, length, _AXIS)


def _computed(view: View, last: Node, length: int) -> list[Node]:
    """The operations that make each position of a tensor of that position alone, as far as nothing else needs them."""
    found: dict[str, Node] = {}
    pending = [last]
    while pending and len(found) < _MAX_OPERATIONS:
        node = pending.pop()
        before = _alone(view, node)
        needed = node is not last and (
            node.name in view.results or any(use.node.name not in found for use in view.uses(node))
        )
        if before is None or needed or node.name in found:
            continue
        found[node.name] = node
        source = view.made(*before)
        if source is not None:
            pending.append(source)
    return sorted(found.values(), key=lambda node: view.order[node.name])


def _alone(view: View, node: Node) -> tuple[str, int] | None:
    """The input that an operation takes position by position; None for one that does not work so."""
    made, count = view.shape(node.name), view.elements(node.name)
    if not made or not node.inputs:
        return None
    before = view.shape(*node.inputs[0])
    if node.type in _ALONE:
        return node.inputs[0]
    if view.reshapes(node):  # [n, positions, numbers] to [n * positions, numbers] or back
        return node.inputs[0] if before and before[-1] == made[-1] and made[-1] > 0 else None
    if node.type in BINARY:
        # The other one is the same for all positions: a bias, a number.
        whole = [owner for owner in node.inputs if view.elements(*owner) == count]
        others = [owner for owner in node.inputs if owner not in whole]
        alike = all((view.elements(*owner) or made[-1] + 1) <= made[-1] for owner in others)
        return whole[0] if len(whole) == 1 and alike else None
    product = product_of(view, node)
    if product is None or [label for label in product.left if label not in product.out] != [product.left[-1]]:
        return None
    # One matrix for all, on the right: none of its axes is one of positions.
    shared = [label for label in product.right if label in product.out and label in product.left]
    return node.inputs[0] if not shared and product.left[:-1] == product.out[: len(product.left) - 1] else None
