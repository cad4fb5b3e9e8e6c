"""Vectors of zeros but for few places: how many of each are left in."""

from __future__ import annotations

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import RESHAPES
from tfperfkit.graph.view import FOLLOWED, View

#: Operations that leave as many numbers other than zero in a row, or fewer.
_PASSES = RESHAPES | optable.names(kind=("slice", "transpose"), differentiates=False) | {"Cast", "BroadcastTo"}


def one_hot(view: View, node: Node | None) -> int:
    """Count the numbers of a row that may be other than zero in a tensor that is made of one-hot vectors.

    The vectors may be weighed, and added up for several indices a row. 0 for any other tensor.
    """
    return _count(view, node, FOLLOWED)


def _count(view: View, node: Node | None, depth: int) -> int:
    if node is None or not depth:
        return 0
    if node.type == "OneHot":
        return 1
    if node.type in _PASSES:
        return _count(view, view.source(node, 0), depth - 1)
    if node.type == "Mul":
        return max(_count(view, view.source(node, number), depth - 1) for number in (0, 1))
    if node.type == "Sum":
        before, axes = view.shape(*node.inputs[0]), view.axes(node)
        # Of vectors themselves no sum is one: along the last axis nothing of them is left.
        if before and axes and len(axes) == 1 and axes[0] < len(before) - 1 and before[axes[0]] > 0:
            return before[axes[0]] * _count(view, view.source(node, 0), depth - 1)
    return 0
