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
_INDEX = SAME | RESHAPES | {"Cast", "Pack"}
_WRITES, _CHANGES = "write one row", "add a few numbers"
_ALONE = (
    "No iteration needs the result of another: compute the indices and values of all elements with whole tensors, "
    "without the loop."
)
_COLLECTED = "Collect indices and values in two tf.TensorArray objects: write() in the loop, stack() after it."
_ARRAY = (
    "Collect the rows in a tf.TensorArray: rows = tf.TensorArray(tf.float32, n) before the loop, rows = "
    "rows.write(i, row) in it, and rows.stack() after it. Rows that the loop does not write need a write() too."
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
    title = "Loop copies a whole tensor to add a few numbers"

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
                name=_name(made),
                alone=each.alone,
                in_place=made.type == "TensorScatterUpdate",
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
    if made.type in _ADDS:
        others = [given for given in made.inputs if not each.is_argument(given)]
        spread = body.made(*others[0]) if len(others) == 1 else None
        if spread is None or spread.type not in _SPREADS or (made.type == "Sub" and others[0] == made.inputs[0]):
            return None
        return _values(spread) if [use.node.name for use in body.uses(spread)] == [made.name] else None
    return None


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


def _name(made: Node) -> str:
    if made.type.startswith("TensorScatter"):
        return f"tf.tensor_scatter_nd_{made.type.removeprefix('TensorScatter').lower()}"
    return "tf.sparse.add" if made.type.startswith("Sparse") else "Adding tf.scatter_nd"
