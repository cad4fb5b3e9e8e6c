"""Rows of a batch that are the same in each call, put together with others before a network."""

from __future__ import annotations

from collections.abc import Iterator, Set

from tfperfkit.graph import optable
from tfperfkit.graph.flow import Flow
from tfperfkit.graph.model import Node
from tfperfkit.graph.optable import is_heavy
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "stacked"
#: What works row by row on its first input.
_BY_ROW = optable.elementwise() | {
    "Conv2D",
    "Conv3D",
    "DepthwiseConv2dNative",
    "MatMul",
    "BatchMatMulV2",
    "BiasAdd",
    "MaxPool",
    "AvgPool",
    "Identity",
    "Pad",
    "PadV2",
    "MirrorPad",
    "ResizeBilinear",
    "ResizeNearestNeighbor",
}
#: Gradients of weights: with one of them the network is trained, and no row's result stays.
_TRAINS = ("BackpropFilter", "BiasAddGrad")


def stacked(view: View) -> Iterator[Wasted]:
    """By ``tf.concat`` along the first axis of what stays and what does not; the results are taken apart again, and no
    weight on the way has a gradient in this function."""
    joined = [node for node in view.forward if node.type == "ConcatV2" and view.integers(view.source(node, -1)) == [0]]
    if not joined or any(part in view.nodes[name].type for name in _computed(view) for part in _TRAINS):
        return
    same = Flow(view).same_names({*view.given.same, *view.idle})
    for node in joined:
        parts = [(name, view.shape(name, output)) for name, output in node.inputs[:-1]]
        if any(not shape or shape[0] < 1 for _, shape in parts):
            continue
        rows = sum(shape[0] for _, shape in parts if shape)
        stays = sum(shape[0] for name, shape in parts if shape and name in same)
        if 0 < stays < rows:
            yield from _of(view, node, same, stays, rows)


def _computed(view: View) -> set[str]:
    """What a result or a change of a variable needs: a tape also makes gradients that nobody takes."""
    writes = (node.name for node in view.nodes.values() if node.type.startswith(("Assign", "Resource")))
    pending = [*view.results, *writes]
    seen = set(pending) & view.nodes.keys()
    while pending:
        node = view.nodes.get(pending.pop())
        if node is not None:
            new = {*(owner for owner, _ in node.inputs), *node.control_inputs} - seen
            seen |= new & view.nodes.keys()
            pending += new
    return seen


def _of(view: View, joined: Node, same: Set[str], stays: int, rows: int) -> Iterator[Wasted]:
    reached = {joined.name}
    found: list[Node] = []
    apart = False
    for node in view.forward:
        owners = [owner for owner, _ in node.inputs]
        if not owners or not reached.intersection(owners):
            continue
        if node.type == "StridedSlice" and owners[0] in reached:
            apart = True
        elif node.type in _BY_ROW and all(owner in reached or owner in same for owner in owners):
            reached.add(node.name)
            found.append(node)
    weights = {owner for node in found for owner, _ in node.inputs if owner not in reached}
    if apart and any(is_heavy(node.type) for node in found):
        yield Wasted(
            kind=KIND,
            where=joined.place,
            operations=[node.name for node in found],
            left=1 - stays / rows,
            figures={"same": stays, "rows": rows, "variables": len(weights)},
        )
