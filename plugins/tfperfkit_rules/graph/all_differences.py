"""GRF012: pairwise distances are computed from a tensor of all differences.

``[n, 1, d] - [1, m, d]`` is squared and summed over d; or rows were repeated, tiled or looked up for each pair before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.copies import Copies, find_copies
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import FOLLOWED, Use, View
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Expression
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

DIFFERENCES_MIN = Threshold(
    8,
    "ratio",
    "minimum ratio of all differences to the numbers that they are made of",
    Chosen("what is saved must outweigh two passes"),
)
PAIRS_FEWEST = Threshold(
    4,
    "ratio",
    "maximum ratio of all pairs that rows make to the existing pairs",
    Chosen("where fewer are picked, a product makes too many"),
)
EXPANDED_PASSES = Threshold(
    6,
    "passes",
    "number of passes over all distances that the expanded square takes",
    Derived("the product is written; twice a sum of squares is added to it, reading and writing; once it is read"),
)
_SCALES, _SHIFTS = optable.names(trait="scales"), optable.names(trait="shifts")


class Differences(Cause, frozen=True, kw_only=True):
    """So many differences are made of so many numbers, for so many distances."""

    differences: int
    distances: int
    numbers: int


class AllDifferences(GraphRule[Differences]):
    """Recognised by differences that are only squared and summed."""

    code = "GRF012"
    title = "Pairwise distances computed by broadcasting all differences"

    def find(self, view: View) -> Iterator[Differences]:
        """Yield the differences that nothing but sums of their squares needs."""
        for node in view.forward:
            if node.type not in ("Sub", "SquaredDifference") or len(node.inputs) != 2:
                continue
            left, right = view.shapes(node)
            made = view.elements(node.name)
            sides = [find_copies(view, owner) for owner in node.inputs]
            sizes = [view.elements(*side.owner) or 0 for side in sides]
            if left is None or right is None or made is None or min(sizes) < 1:
                continue
            ends = _sums(view, node, made) if made >= _wide(max(sizes)) and _is_all(sides, made, left) else []
            if ends and all(_over_shared(view, end.way[-1], left, right, sides) for end in ends):
                yield _cause(view, node, ends, sides, made)

    def report(self, evidence: Evidence, part: Part[Differences]) -> Finding:
        """Advise to expand the square."""
        cause = part.cause
        return self.finding(
            evidence,
            part,
            f"Pairwise distances computed by broadcasting {often(cause.differences)} differences",
            _advice(*_points(evidence, cause.where)),
            "Each difference is written to memory, read, squared, written and read again. The expanded square loses "
            "digits if points lie close together and far from zero: then subtract their mean from both first.",
            count("differences", cause.differences),
            count("distances", cause.distances),
        )


class _Sum(NamedTuple):
    """The operations from the differences to a sum."""

    way: tuple[Node, ...]
    scaled: bool


def _cause(view: View, node: Node, ends: list[_Sum], sides: list[Copies], made: int) -> Differences:
    whole = max((shape for shape in view.shapes(node) if shape is not None), key=len)
    after = view.elements(ends[0].way[-1].name) or made // max(whole[-1], 1)  # open sizes: the sums don't tell theirs
    numbers = sum(view.elements(*side.owner) or 0 for side in sides)
    copied = [each for side in sides for each in side.nodes]
    nodes = [each for end in ends for each in (node, *end.way)]
    return Differences(
        where=node.place,
        places=[each.place for each in (*nodes, *copied) if each.place is not None],
        operations=list(dict.fromkeys(each.name for each in (*nodes, *_alone(view, copied, node)))),
        flops=2.0 * made * len(ends),
        bytes=view.bytes(node.name) / made * (EXPANDED_PASSES.value * after * len(ends) + numbers),
        differences=made,
        distances=after,
        numbers=numbers,
    )


def _wide(numbers: int) -> float:
    """From how many differences of so many numbers on they are reported."""
    return DIFFERENCES_MIN.value * numbers


def _sums(view: View, node: Node, made: int) -> list[_Sum]:
    """Return the sums that all squared differences go into; [] if anything else needs them."""
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
            elif len(way) < FOLLOWED and _stays_a_square(view, use, made):
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
    """Whether the squares stay those of (other) differences: without their sign, moved by a vector, each axis in a
    unit of its own."""
    if use.node.type in ("Abs", "Neg"):
        return True
    others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
    scales = use.node.type in _SCALES and (use.number == 0 or use.node.type == "Mul")
    moves = use.node.type in _SHIFTS
    # A unit for each axis that is summed over, or a vector, moves to the points; one for each pair does not.
    return (scales or moves) and all((shape := view.shape(*owner)) is not None and len(shape) < 2 for owner in others)


def _to_the_second(view: View, use: Use) -> bool:
    """Whether it is ``x ** 2``."""
    return use.node.type == "Pow" and use.number == 0 and view.number(view.source(use.node, 1)) == 2.0


def _summed(view: View, node: Node, way: tuple[Node, ...], made: int, *, scaled: bool = False) -> list[_Sum]:
    """Return the sums that squares go into, once scaled on their way; [] if anything else needs them."""
    if node.name in view.results:
        return []
    found: list[_Sum] = []
    for use in view.uses(node):
        if use.node.type in ("Sum", "Mean") and use.number == 0:
            found.append(_Sum((*way, use.node), scaled))
            continue
        others = [owner for number, owner in enumerate(use.node.inputs) if number != use.number]
        weighs = use.node.type in _SCALES and (use.number == 0 or use.node.type == "Mul") and not scaled
        small = all(_wide(view.elements(*owner) or made) <= made for owner in others)
        further = _summed(view, use.node, (*way, use.node), made, scaled=True) if weighs and small else []
        if not further:
            return []
        found += further
    return found


def _alone(view: View, copied: list[Node], node: Node) -> list[Node]:
    """Return the operations that copy rows for the differences alone."""
    mine = {node.name, *(each.name for each in copied)}
    return [each for each in copied if {use.node.name for use in view.uses(each)} <= mine]


def _is_all(sides: list[Copies], made: int, shape: tuple[int, ...]) -> bool:
    """Whether rows that are copied one after the other make most of all pairs."""
    rows = [side.rows for side in sides]
    if None in rows:
        return rows == [None, None]
    return (rows[0] or 0) * (rows[1] or 0) <= PAIRS_FEWEST.value * made // max(shape[-1], 1)


def _over_shared(view: View, node: Node, left: tuple[int, ...], right: tuple[int, ...], sides: list[Copies]) -> bool:
    """Whether a sum goes over axes of more than one number that both sides have: there is the scalar product."""
    if node.type == "Einsum":
        return True
    axes = view.axes(node)
    rank = max(len(left), len(right))
    if not axes:
        return False
    pads = [(1,) * (rank - len(each)) + each for each in (left, right)]
    alike = {axis + rank - len(each) for each, side in zip((left, right), sides, strict=True) for axis in side.axes}
    return all(pads[0][axis] == pads[1][axis] > 1 and axis not in alike for axis in axes)


def _advice(a: str, b: str) -> str:
    """Return the expanded square of two sets of points."""
    product = f"2 * tf.matmul({a}, {b}, transpose_b=True)"
    return (
        "Expand the square: "
        f"tf.reduce_sum({a} * {a}, -1)[:, None] - {product} + tf.reduce_sum({b} * {b}, -1)[None, :], with "
        "tf.maximum(..., 0) around it, and tf.sqrt around that for the distance itself. Or, for the nearest only: "
        f"tf.argmin(tf.reduce_sum({b} * {b}, -1) - {product}, axis=1)."
    )


def _points(evidence: Evidence, where: SourceSpan | None) -> tuple[str, str]:
    """Name the two sets of points as the line does, that of the rows first."""
    syntax = evidence.syntax(where.file) if where is not None else None
    outer = syntax.find_line_expressions(where.line) if syntax is not None and where is not None else []
    for node in (inner for part in outer for inner in part.parts if inner.operator == "-"):
        sides = {_find_new_axis(side): side.owner.text for side in node.operands if side.owner is not None}
        if {0, 1} <= set(sides):
            return sides[1], sides[0]
    return "a", "b"


def _find_new_axis(side: Expression) -> int | None:
    """Find the position of the one new axis: 1 of ``x[:, None, :]``, 0 of ``y[None]``; None without one, or with
    several."""
    new = [at for at, item in enumerate(side.indices) if item.text in ("None", "tf.newaxis", "np.newaxis")]
    return new[0] if len(new) == 1 else None
