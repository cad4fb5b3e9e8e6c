"""GRF014: all rows of a table are computed, and few of them are looked up."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, RESHAPES, UNARY
from tfperfkit.graph.slices import taken_count
from tfperfkit.graph.view import View
from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, often
from tfperfkit_rules.graph.rule import GraphRule

ROWS_USED_MAX = Threshold(
    0.25,
    "share",
    "maximum share of a table's rows that are looked up, for the rest to be waste",
    Chosen("what is saved must outweigh looking up and scattering"),
)
ROWS_MIN = Threshold(
    64, "rows", "minimum number of rows of a table: a smaller one is computed in no time", Chosen("a few cache lines")
)
OPERATIONS_MAX = Threshold(
    100, "operations", "maximum number of operations that compute a table", Chosen("it bounds the search")
)
#: TensorFlow traces the body of a vectorized loop (``tape.jacobian``) into the graph, and runs the body in another
#: form.
_TRACED_ONLY = "loop_body"
_LOOKUPS = optable.names(kind=("gather", "slice"), differentiates=False)
_REDUCTIONS = optable.names(kind="reduction")
_SOFTMAX = optable.names(kind="softmax", differentiates=False)
_WITHIN_ROWS = UNARY | _SOFTMAX | optable.names(kind="bias", differentiates=False)
#: Example by example.
_IMAGES = optable.names(kind=("convolution", "pooling"), axis="first", differentiates=False)


class ComputedTable(Cause, frozen=True, kw_only=True):
    """Of ``rows`` computed rows, ``taken`` are looked up."""

    rows: int
    taken: int


class WholeTable(GraphRule[ComputedTable]):
    """Finds lookups and slices along the first axis of a tensor that was computed row by row and that nothing else
    uses."""

    code = "GRF014"
    title = "All table rows computed before tf.gather picks few"

    def find(self, view: View) -> Iterator[ComputedTable]:
        """Yield the tables of which at most a quarter of the rows is used."""
        for name, found in _group_lookups(view).items():
            gathers = [node for node, _ in found]
            shape = view.shape(name) or (1,)
            rows, taken = shape[0], sum(each for _, each in found)
            if taken > ROWS_USED_MAX.value * rows:
                continue
            region = _find_region(view, view.nodes[name], rows, {gather.name for gather in gathers})
            used = {each.name for each in (*region, *gathers)}
            if not region or any(_is_used_elsewhere(view, node, used) for node in region):
                continue
            places = [node.place for node in (*region, *gathers) if node.place is not None]
            yield ComputedTable(
                where=places[0] if places else None,
                places=list(dict.fromkeys(places)),
                operations=[node.name for node in (*region, *gathers)],
                left=taken / rows,
                rows=rows,
                taken=taken,
            )

    def report(self, evidence: Evidence, part: Part[ComputedTable]) -> Finding:
        """Advise to look up first."""
        rows, taken = part.cause.rows, part.cause.taken
        return self.finding(
            evidence,
            part,
            f"All {often(rows)} table rows computed before tf.gather picks {often(taken)}",
            "Look up first: rows = tf.gather(table, ids), then normalise, project or activate these rows.",
            "Each row is computed on its own, so the results are the same. The results of all other rows are "
            "discarded, forward and backward.",
            count("rows computed", rows),
            count("rows looked up", taken),
        )


def _group_lookups(view: View) -> dict[str, list[tuple[Node, int]]]:
    """Group the lookups, with the number of rows that each takes, by the operation that made the rows."""
    found: dict[str, list[tuple[Node, int]]] = {}
    for node in view.forward:
        if node.type not in _LOOKUPS or _TRACED_ONLY in node.name.split("/"):
            continue
        source = view.source(node, 0)
        shape = view.shape(source.name) if source is not None else None
        has_rows = shape is not None and len(shape) > (0 if node.type == "GatherV2" else 1)
        taken = taken_count(view, node, shape[0], 0) if shape and has_rows and shape[0] >= ROWS_MIN.value else None
        if source is not None and taken is not None:
            found.setdefault(source.name, []).append((node, taken))
    return found


def _is_used_elsewhere(view: View, node: Node, used: set[str]) -> bool:
    return node.name in view.results or any(use.node.name not in used for use in view.uses(node))


def _find_region(view: View, last: Node, rows: int, lookups: set[str]) -> list[Node]:
    """Return the operations that make each row of a tensor from the same row of other tensors, back to the sources;
    none if something after that tensor needs one of these operations.
    """
    found: dict[str, Node] = {}
    pending = [last]
    while pending:
        if len(found) > OPERATIONS_MAX.value:
            return []
        node = pending.pop()
        inputs = None if node.name in found else _list_row_inputs(view, node, rows)
        if inputs is None:
            continue
        others = (use.node.name for use in view.uses(node) if use.node.name not in lookups)
        if any(view.order[name] > view.order[last.name] for name in others):
            return []
        found[node.name] = node
        pending += [source for owner in inputs if (source := view.made(*owner)) is not None]
    return sorted(found.values(), key=lambda node: view.order[node.name])


def _list_row_inputs(view: View, node: Node, rows: int) -> list[tuple[str, int]] | None:
    """The inputs that go into an operation row by row; None for an operation that does not work so."""
    shapes, made = view.shapes(node), view.shape(node.name)
    if not made or made[0] != rows or not node.inputs:
        return None
    first = shapes[0]
    if node.type in _WITHIN_ROWS and len(made) > (node.type in _SOFTMAX):
        return node.inputs[:1]
    if node.type in BINARY:
        aligned = [
            owner
            for owner, shape in zip(node.inputs, shapes, strict=True)
            if shape is not None and len(shape) == len(made) and shape[0] == rows
        ]
        return aligned or None
    if node.type == "ConcatV2":
        axis = view.integers(view.source(node, len(node.inputs) - 1))
        return node.inputs[:-1] if axis and axis[0] % len(made) else None
    return node.inputs[:1] if first and first[0] == rows and _keeps_rows(view, node) else None


def _keeps_rows(view: View, node: Node) -> bool:
    """Whether an operation makes each row of that row of its first input, given that both have as many."""
    if node.type == "MatMul":
        return not node.flag("transpose_a")
    if node.type in _REDUCTIONS:
        axes = view.axes(node)
        return bool(axes) and axes is not None and 0 not in axes
    return node.type in RESHAPES | _IMAGES
