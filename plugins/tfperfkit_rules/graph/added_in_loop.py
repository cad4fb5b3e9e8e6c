"""GRF035: a loop in a compiled function copies a whole tensor in each iteration to add a few numbers to it."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES, SAME
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.loop_states import (
    COPIES_OF_ROW,
    ITERATIONS_UNKNOWN,
    HandedOn,
    find_handed_on,
)
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule

LARGER = Threshold(
    16,
    "times",
    "how much larger than what an iteration adds to it the tensor must be",
    Derived("with less, adding all at once, which copies each number three times, hardly takes a fifth of the time"),
)
ADDED_LEFT = Threshold(
    3,
    "copies",
    "number of copies of each added number that remain",
    Measured(
        "2,000 numbers added one by one to 500 x 500: 0.23 s with tensor_scatter_nd_add, 0.32 s as scatter_nd and a "
        "sum, 0.02 s for all at once; a loop that adds to one number takes 0.02 s",
        TWO_BUSY_CORES,
        4,
    ),
)

_SCATTERS = optable.names(kind="scatter", trait="copies-first")
_SPREADS = optable.names(trait="spreads")
_ADDS = optable.names(trait="shifts")
_SELECTS = optable.names(kind="select")
_COMPARES = optable.names(kind="comparison")
#: Operations between a one-hot row and the mask.
_MASKS = SAME | RESHAPES | {"Cast", "BroadcastTo"}
_INDEX = SAME | RESHAPES | {"Cast", "Pack"}
_WRITES, _CHANGES = "write one row", "add a few numbers"
_ALONE = (
    "No iteration needs the result of another: compute the indices and values of all elements with whole tensors, "
    "without the loop."
)
_COLLECTED = "Collect indices and values in two tf.TensorArray objects: write() in the loop, stack() after it."
_ARRAY = (
    "Collect the rows in a tf.TensorArray: rows = tf.TensorArray(tf.float32, n) before the loop, rows = "
    "rows.write(i, row) in it, and rows.stack() after it. Rows that the loop does not write need a write() too. Or: "
    "tf.transpose after it if they are written along another axis."
)


class AddedInLoop(Cause, frozen=True, kw_only=True):
    """``iterations`` of the loop, 0 if unknown; ``numbers`` of the tensor, 0 if it is sparse; ``name`` of the function
    of TensorFlow. ``alone``: no iteration needs the result of another; ``in_place``: iteration i writes row i."""

    iterations: int
    numbers: int
    name: str
    alone: bool
    in_place: bool


class CopiedToAdd(GraphRule[AddedInLoop]):
    """Finds a tensor that an operation of the loop takes and returns with a few numbers changed, if nothing else in the
    loop reads it."""

    code = "GRF035"
    title = "Loop copies a whole tensor to change few numbers"

    def find(self, view: View) -> Iterator[AddedInLoop]:
        """Yield the operations that copy the tensor."""
        for each in find_handed_on(view):
            body, made = each.body, each.made
            added = _find_added(each)
            if added is None:
                continue
            whole = 0 if made.type == "SparseAdd" else body.elements(made.name) or 0
            few = body.elements(*added)
            if made.type != "SparseAdd" and (few is None or whole < LARGER.value * few):
                continue
            iterations = iterations_of(view.graph, each.loop) or 0
            goes = iterations or ITERATIONS_UNKNOWN.value
            part = 2 * COPIES_OF_ROW.value / goes if not whole else ADDED_LEFT.value * (few or 0) / whole + 1 / goes
            spreads = [node.name for each in made.inputs if (node := body.made(*each)) and node.type in _SPREADS]
            yield AddedInLoop(
                where=made.place,
                operations=[made.name, *spreads],
                left=min(part, 1.0),
                iterations=iterations,
                numbers=whole,
                name=_name(made, products=not spreads),
                alone=each.alone,
                in_place=made.type == "TensorScatterUpdate" or made.type in _SELECTS,
            )

    def report(self, evidence: Evidence, part: Part[AddedInLoop]) -> Finding:
        """Advise to collect what is added, and to add it at once."""
        cause = part.cause
        advice = _ARRAY if cause.in_place else f"{_add_at_once(cause)} {_ALONE if cause.alone else _COLLECTED}"
        figures = [count("iterations", cause.iterations)] if cause.iterations else []
        figures += [count("numbers in the tensor", cause.numbers)] if cause.numbers else []
        return self.finding(
            evidence,
            part,
            f"{cause.name} in a loop copies the whole tensor to {_WRITES if cause.in_place else _CHANGES}",
            advice,
            "Nothing else in the loop reads the tensor, and each iteration writes all of it again. So the work grows "
            "with the size of the tensor times the number of iterations.",
            *figures,
        )


def _add_at_once(cause: AddedInLoop) -> str:
    if cause.name.startswith("tf.tensor_scatter"):
        return f"Call {cause.name} once, with the indices and values of all iterations."
    return (
        "Add all at once: tf.scatter_nd(indices, values, shape), which adds up numbers with the same index. Or: "
        "tf.math.unsorted_segment_sum(values, rows, n)."
    )


def _find_added(each: HandedOn) -> tuple[str, int] | None:
    """Return the tensor with the few numbers; None for another operation, or where rows may be written twice."""
    body, made = each.body, each.made
    if made.type in _SCATTERS:
        tensor, indices, values = made.inputs
        known = made.type != "TensorScatterUpdate" or _counts(each, indices)
        return values if known and each.is_argument(tensor) else None
    if made.type == "SparseAdd":
        one, values, _, _, more, *_ = made.inputs
        return more if each.is_argument(one) else values
    if made.type == "SparseTensorDenseAdd":
        _, values, _, dense = made.inputs
        return values if each.is_argument(dense) else None
    if made.type in _SELECTS:
        mask, new, old = made.inputs
        return new if each.is_argument(old) and _is_one_place(each, mask) else None
    if made.type in _ADDS:
        others = [given for given in made.inputs if not each.is_argument(given)]
        spread = body.made(*others[0]) if len(others) == 1 else None
        if spread is not None and spread.type == "Mul":
            return _of_product(each, spread)
        if spread is None or spread.type not in _SPREADS or (made.type == "Sub" and others[0] == made.inputs[0]):
            return None
        return _values(spread) if [use.node.name for use in body.uses(spread)] == [made.name] else None
    return None


def _of_product(each: HandedOn, product: Node) -> tuple[str, int] | None:
    """Return what a product puts at the one place that a mask keeps: ``tf.one_hot(i, n)[:, None] * row``."""
    if [use.node.name for use in each.body.uses(product)] != [each.made.name]:
        return None
    one, other = product.inputs
    return other if _is_one_place(each, one) else one if _is_one_place(each, other) else None


def _is_one_place(each: HandedOn, mask: tuple[str, int]) -> bool:
    """Whether a mask is true, or 1, at one place of an axis: a one-hot row, or ``tf.range(n) == i``."""
    body, node = each.body, each.body.made(*mask)
    for _ in range(FOLLOWED):
        if node is None:
            return False
        if body is each.body and each.around is not None and each.chosen_by is not None and _is_slot(body, node):
            number = body.graph.slots.index(node.name) + 1  # the condition comes first
            body, node = each.around, each.around.source(each.chosen_by, number)
            continue
        if node.type == "OneHot":
            return body.elements(*node.inputs[0]) == 1
        if node.type in _COMPARES and len(node.inputs) == 2:
            numbers = [body.elements(*owner) for owner in node.inputs]
            if numbers.count(1) != 1:
                return False
            number = numbers.index(1)
            rows, other = body.source(node, number ^ 1), body.source(node, number)
            if rows is not None and node.type == "Equal" and _is_range(each, body, rows):
                return True
            if not _holds_for_one(body, node.type, other, first=number == 0):
                return False
            node = rows
        elif node.type in _MASKS or body.reshapes(node):
            node = body.source(node, 0)
        else:
            return False
    return False


def _holds_for_one(body: View, kind: str, number: Node | None, *, first: bool) -> bool:
    """Whether a comparison with a constant, that may come ``first``, is true of 1 and false of 0."""
    whole, real = body.integers(number), body.number(number)
    value = real if real is not None else float(whole[0]) if whole else None
    if value is None:
        return False
    one, zero = ((value, each) if first else (each, value) for each in (1.0, 0.0))
    return optable.compute(kind, *one) is True and optable.compute(kind, *zero) is False


def _is_slot(body: View, node: Node) -> bool:
    return node.name in body.graph.slots


def _is_range(each: HandedOn, body: View, node: Node) -> bool:
    """Whether all numbers of a tensor differ, as those of ``tf.range``: also of one that the loop captures."""
    made: Node | None = node
    view = body
    if body is (each.around or each.body) and node.name in body.graph.record.captures and _is_slot(body, node):
        made, view = each.view.source(each.loop, body.graph.slots.index(node.name)), each.view
    values = view.integers(made) if made is not None and made.type == "Const" else None
    return made is not None and (made.type == "Range" or (values is not None and len(set(values)) == len(values) > 1))


def _values(spread: Node) -> tuple[str, int]:
    _, first, second, *_ = spread.inputs
    return first if spread.type == "ScatterNd" else second


def _counts(each: HandedOn, index: tuple[str, int]) -> bool:
    """Whether an index is the loop's counter and nothing else, so that no iteration has the index of another."""
    body = each.body
    node = body.made(*index)
    for _ in range(FOLLOWED):
        if node is None or body.elements(node.name) != 1:
            return False
        if node.type == "Placeholder":
            slots = body.graph.slots
            return node.name in slots and each.counts(slots.index(node.name))
        if node.type not in _INDEX:
            return False
        node = body.source(node, 0)
    return False


def _name(made: Node, *, products: bool) -> str:
    if made.type in _SELECTS:
        return "tf.where"
    if made.type.startswith("TensorScatter"):
        return f"tf.tensor_scatter_nd_{made.type.removeprefix('TensorScatter').lower()}"
    if made.type.startswith("Sparse"):
        return "tf.sparse.add"
    return "Adding tf.one_hot times a row" if products else "Adding tf.scatter_nd"
