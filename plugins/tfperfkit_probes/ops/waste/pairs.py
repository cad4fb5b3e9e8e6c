"""Squared distances of all pairs by way of all differences: ``[n, 1, d] - [1, m, d]``, squared and summed over d; or of
rows that were repeated, tiled or looked up for each pair before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import Use, View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste.copies import Copies, copies

KIND = "pairs"
#: All differences are at least so many times the numbers that they are made of.
_WIDE = 8
_SCALES = frozenset({"Mul", "RealDiv", "Div"})
#: Of all pairs that rows make, so many are there at least (1/4): fewer are picked, and a product makes too many.
_FEWEST = 4
#: Operations between a difference and its square.
_BEFORE = 3


class _Sum(NamedTuple):
    way: tuple[Node, ...]
    scaled: bool


def pairs(view: View) -> Iterator[Wasted]:
    """Reported where nothing else needs the differences."""
    for node in view.forward:
        if node.type not in ("Sub", "SquaredDifference") or len(node.inputs) != 2:
            continue
        left, right = view.shapes(node)
        made = view.elements(node.name)
        sides = [copies(view, owner) for owner in node.inputs]
        sizes = [view.elements(*side.owner) or 0 for side in sides]
        if left is None or right is None or made is None or min(sizes) < 1 or made < _WIDE * max(sizes):
            continue
        ends = _sums(view, node, made) if _is_all(sides, made, left) else []
        if not ends or not all(_over_shared(view, end.way[-1], left, right, sides) for end in ends):
            continue
        whole = max(left, right, key=len)  # of open sizes the sums don't tell theirs
        after = view.elements(ends[0].way[-1].name) or made // max(whole[-1], 1)
        count = len(ends)
        copied = [each for side in sides for each in side.nodes]
        nodes = [each for end in ends for each in (node, *end.way)]
        places = [each.place for each in (*nodes, *copied) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=node.place,
            places=list(dict.fromkeys(places)),
            operations=list(dict.fromkeys(each.name for each in (*nodes, *_alone(view, copied, node)))),
            flops=2.0 * made * count,
            # The products, twice each number's own square added, and once again for a weighted sum.
            bytes=4.0 * (6 * after * count + sum(sizes)),
            figures={"differences": made, "distances": after, "numbers": sum(sizes)},
        )


def _sums(view: View, node: Node, made: int) -> list[_Sum]:
    """The sums that all differences, squared, go into; none where something else needs them."""
    squares: list[tuple[Node, ...]] = [()] if node.type == "SquaredDifference" else []
    ends: list[_Sum] = []
    pending: list[tuple[Node, ...]] = [] if squares else [(node,)]
    while pending:
        way = pending.pop()
        for use in view.uses(way[-1]):
            both = len({view.made(*owner) for owner in use.node.inputs[:2]}) == 1 and len(use.node.inputs) == 2
            if use.node.type == "Einsum" and both and (view.elements(use.node.name) or made) * 2 <= made:
                ends.append(_Sum((*way[1:], use.node), False))
            elif use.node.type == "Square" or (use.node.type == "Mul" and both) or _to_the_second(view, use):
                squares.append((*way[1:], use.node))
            elif len(way) <= _BEFORE and _stays_a_square(view, use, made):
                pending.append((*way, use.node))
            else:
                return []
        if way[-1].name in view.results:
            return []
    for way in dict.fromkeys(squares):
        last = way[-1] if way else node
        found = _summed(view, last, way, made)
        if not found:
            return []
        ends += found
    return list(dict.fromkeys(ends))


def _stays_a_square(view: View, use: Use, made: int) -> bool:
    """Whether it leaves the squares to be those of (other) differences: without their sign, moved by a vector, each
    axis in its own unit."""
    if use.node.type in ("Abs", "Neg"):
        return True
    others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
    scales = use.node.type in _SCALES and (use.number == 0 or use.node.type == "Mul")
    moves = use.node.type in ("Add", "AddV2", "Sub")
    # A unit for each axis that is summed over, or a vector, moves to the points; one for each pair does not.
    return (scales or moves) and all((shape := view.shape(*owner)) is not None and len(shape) < 2 for owner in others)


def _to_the_second(view: View, use: Use) -> bool:
    return use.node.type == "Pow" and use.number == 0 and view.number(view.source(use.node, 1)) == 2.0


def _summed(view: View, node: Node, way: tuple[Node, ...], made: int, *, scaled: bool = False) -> list[_Sum]:
    if node.name in view.results:
        return []
    found: list[_Sum] = []
    for use in view.uses(node):
        if use.node.type in ("Sum", "Mean") and use.number == 0:
            found.append(_Sum((*way, use.node), scaled))
            continue
        others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
        weighs = use.node.type in _SCALES and (use.number == 0 or use.node.type == "Mul") and not scaled
        small = all(_WIDE * (view.elements(*owner) or made) <= made for owner in others)
        further = _summed(view, use.node, (*way, use.node), made, scaled=True) if weighs and small else []
        if not further:
            return []
        found += further
    return found


def _alone(view: View, copied: list[Node], node: Node) -> list[Node]:
    """The copies that nothing but the differences needs."""
    mine = {node.name, *(each.name for each in copied)}
    return [each for each in copied if {use.node.name for use in view.uses(each)} <= mine]


def _is_all(sides: list[Copies], made: int, shape: tuple[int, ...]) -> bool:
    """Whether rows that are copied one after the other make most of all pairs."""
    rows = [side.rows for side in sides]
    if None in rows:
        return rows == [None, None]
    return (rows[0] or 0) * (rows[1] or 0) <= _FEWEST * made // max(shape[-1], 1)


def _over_shared(view: View, node: Node, left: tuple[int, ...], right: tuple[int, ...], sides: list[Copies]) -> bool:
    """Whether it sums over axes of more than one number that both sides have: there is the scalar product."""
    if node.type == "Einsum":
        return True
    axes = view.axes(node)
    rank = max(len(left), len(right))
    if not axes:
        return False
    pads = [(1,) * (rank - len(each)) + each for each in (left, right)]
    alike = {axis + rank - len(each) for each, side in zip((left, right), sides, strict=True) for axis in side.axes}
    return all(pads[0][axis] == pads[1][axis] > 1 and axis not in alike for axis in axes)
