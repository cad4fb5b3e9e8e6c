"""Rows that are computed, all of them, and then looked up, few of them: to look up first gives the same."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, RESHAPES, UNARY
from tfperfkit.graph.slices import taken_count
from tfperfkit.graph.view import Use, View
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "table"
_MIN_ROWS = 64
#: Of more operations a table is not made: the time that looking takes is bounded.
MAX_OPERATIONS = 100
#: TensorFlow traces the body of a vectorized loop (``tape.jacobian``) into the graph, and runs what it makes of it.
_TRACED_ONLY = "loop_body"
_LOOKUPS = frozenset({"GatherV2", "GatherNd", "StridedSlice", "Slice"})
_REDUCES = frozenset({"Sum", "Mean", "Max", "Min", "Prod"})
_WITHIN_ROWS = UNARY | {"Softmax", "LogSoftmax", "BiasAdd"}
#: Pictures one by one.
_PICTURES = frozenset({"Conv2D", "Conv3D", "DepthwiseConv2dNative", "MaxPool", "AvgPool"})


def tables(view: View) -> Iterator[Wasted]:
    """By lookups and slices along the first axis of what was computed row by row, and is used for nothing else."""
    lookups: dict[str, list[tuple[Node, int]]] = {}
    for node in view.forward:
        if node.type in _LOOKUPS and _TRACED_ONLY not in node.name.split("/"):
            source = view.source(node, 0)
            shape = view.shape(source.name) if source is not None else None
            rows_of = shape is not None and len(shape) > (0 if node.type == "GatherV2" else 1)
            taken = taken_count(view, node, shape[0], 0) if shape and rows_of and shape[0] >= _MIN_ROWS else None
            if source is not None and taken is not None:
                lookups.setdefault(source.name, []).append((node, taken))
    for name, found in lookups.items():
        gathers = [node for node, _ in found]
        shape = view.shape(name) or (1,)
        rows, count = shape[0], sum(taken for _, taken in found)
        if count > numbers.FEW.value * rows:
            continue
        region = _computed(view, view.nodes[name], rows, {gather.name for gather in gathers})
        used = {each.name for each in (*region, *gathers)}
        if not region or any(_goes_elsewhere(view, node, used) for node in region):
            continue
        places = [node.place for node in (*region, *gathers) if node.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=[node.name for node in (*region, *gathers)],
            left=count / rows,
            figures={"rows": rows, "taken": count},
        )


def _goes_elsewhere(view: View, node: Node, used: set[str]) -> bool:
    return node.name in view.results or any(use.node.name not in used for use in view.uses(node))


def _computed(view: View, last: Node, rows: int, lookups: set[str]) -> list[Node]:
    """The operations that make each row of a tensor of that row of others, back to where these come from; none where
    something after that tensor needs one of them."""
    found: dict[str, Node] = {}
    pending = [last]
    while pending:
        if len(found) > MAX_OPERATIONS:
            return []
        node = pending.pop()
        inputs = None if node.name in found else of_rows(view, node, rows)
        if inputs is None:
            continue
        if any(view.order[use.node.name] > view.order[last.name] for use in _beside(view, node, lookups)):
            return []
        found[node.name] = node
        pending += [source for owner in inputs if (source := view.made(*owner)) is not None]
    return sorted(found.values(), key=lambda node: view.order[node.name])


def _beside(view: View, node: Node, lookups: set[str]) -> list[Use]:
    return [use for use in view.uses(node) if use.node.name not in lookups]


def of_rows(view: View, node: Node, rows: int) -> list[tuple[str, int]] | None:
    """The inputs that go into an operation row by row; None for one that does not work so."""
    shapes, made = view.shapes(node), view.shape(node.name)
    if not made or made[0] != rows or not node.inputs:
        return None
    first = shapes[0]
    if node.type in _WITHIN_ROWS and len(made) > (node.type in ("Softmax", "LogSoftmax")):
        return node.inputs[:1]
    if node.type in BINARY:
        aligned = [
            owner
            for owner, shape in zip(node.inputs, shapes, strict=True)
            if shape is not None and len(shape) == len(made) and shape[0] == rows
        ]
        return aligned or None
    if node.type == "MatMul":
        return node.inputs[:1] if first and first[0] == rows and not node.flag("transpose_a") else None
    if node.type in _REDUCES:
        axes = view.axes(node)
        return node.inputs[:1] if axes and 0 not in axes and first and first[0] == rows else None
    if node.type in RESHAPES | _PICTURES:
        return node.inputs[:1] if first and first[0] == rows else None
    if node.type == "ConcatV2":
        axis = view.integers(view.source(node, len(node.inputs) - 1))
        return node.inputs[:-1] if axis and axis[0] % len(made) else None
    return None
