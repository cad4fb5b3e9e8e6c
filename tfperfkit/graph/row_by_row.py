"""Whether a tensor has a row for each row of the data that it follows from, and of that row alone."""

from __future__ import annotations

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, RESHAPES, SAME, UNARY
from tfperfkit.graph.view import SIZES, View

_ON_FIRST = frozenset({"BiasAdd", "Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool", "AvgPool", "Pad"})
_REDUCTIONS = frozenset({"Sum", "Mean", "Max", "Min", "Prod", "Any", "All"})
_SOFT = frozenset({"Softmax", "LogSoftmax"})
_JOINED = BINARY | {"Select", "SelectV2", "AddN", "BatchMatMulV2", "BatchMatMul"}


def row_by_row(view: View, last: Node, rows: int) -> bool:
    """False where that is not known: of an operation that is none of these, or takes rows together."""
    follows = _following(view)
    if last.name not in follows:
        return False
    pending, seen = [last.name], {last.name}
    while pending:
        node = view.nodes[pending.pop()]
        if node.type == "Placeholder" or not node.inputs:
            continue
        if not _keeps_rows(view, node, follows, rows):
            return False
        new = {owner for owner, _ in node.inputs if owner in follows} - seen
        seen |= new
        pending += new
    return True


def _following(view: View) -> set[str]:
    """What follows from arguments, as more than their sizes."""
    found = {
        name
        for name in view.graph.record.arguments
        if name in view.nodes and view.graph.type_of(name).dtype not in ("resource", "variant", "")
    }
    for node in view.nodes.values():
        if node.type not in SIZES and any(owner in found for owner, _ in node.inputs):
            found.add(node.name)
    return found


def _keeps_rows(view: View, node: Node, follows: set[str], rows: int) -> bool:
    made = view.shape(node.name)
    given = [number for number, (owner, _) in enumerate(node.inputs) if owner in follows]
    shapes = [view.shape(*node.inputs[number]) for number in given]
    if not made or made[0] != rows or any(not shape or shape[0] != rows for shape in shapes):
        return False
    kind = node.type
    if kind in SAME | UNARY:
        return True
    if kind in _JOINED:  # aligned at the last axes: the first is the same only where there are as many
        least = 3 if kind.startswith("BatchMatMul") else 1
        return all(shape is not None and len(made) == len(shape) >= least for shape in shapes)
    if kind == "MatMul":
        return given == [0] and not node.flag("transpose_a")
    if kind.startswith("FusedBatchNorm"):
        return given == [0] and node.attr("is_training") is not None and not node.flag("is_training")
    if kind in _REDUCTIONS:
        axes = view.axes(node)
        return given == [0] and axes is not None and 0 not in axes
    if kind == "ConcatV2":
        axis = view.integers(view.source(node, len(node.inputs) - 1))
        return axis is not None and axis[0] % len(made) != 0
    if kind == "Transpose":
        order = view.integers(view.source(node, 1))
        return given == [0] and bool(order) and order is not None and order[0] == 0
    if kind in _SOFT:
        return len(made) > 1
    return given == [0] and kind in _ON_FIRST | RESHAPES
