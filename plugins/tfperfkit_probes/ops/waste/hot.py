"""Vectors of zeros but for few places: how many of each are left in."""

from __future__ import annotations

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View

_PASSES = frozenset(
    {"Cast", "Reshape", "ExpandDims", "StridedSlice", "Squeeze", "BroadcastTo", "Identity", "Transpose"}
)
_DEEPEST = 8


def one_hot(view: View, node: Node | None) -> int:
    """How many numbers of a row may be other than zero, where a tensor is made of one-hot vectors, weighed and added up
    for several indices a row; 0 for anything else."""
    return _hot(view, node, _DEEPEST)


def _hot(view: View, node: Node | None, depth: int) -> int:
    if node is None or not depth:
        return 0
    if node.type == "OneHot":
        return 1
    if node.type in _PASSES:
        return _hot(view, view.source(node, 0), depth - 1)
    if node.type == "Mul":
        return max(_hot(view, view.source(node, number), depth - 1) for number in (0, 1))
    if node.type == "Sum":
        before, axes = view.shape(*node.inputs[0]), view.axes(node)
        # Of vectors themselves no sum is one: along the last axis nothing of them is left.
        if before and axes and len(axes) == 1 and axes[0] < len(before) - 1 and before[axes[0]] > 0:
            return before[axes[0]] * _hot(view, view.source(node, 0), depth - 1)
    return 0
