"""A tensor that is made of copies of a smaller one: tiled, broadcast, repeated, or looked up row by row."""

from __future__ import annotations

from typing import NamedTuple

from tfperfkit.graph.model import Node
from tfperfkit.graph.uses import names_rows
from tfperfkit.graph.view import View

_COPIES = ("Tile", "BroadcastTo")
_DEEPEST = 4


class Copies(NamedTuple):
    """``owner``: what is copied.

    ``axes``: those of the copies along which they are alike, or repeat in turn. ``nodes`` make them. ``rows``: rows of
    numbers that are copied, where copies stand along axes of these.
    """

    owner: tuple[str, int]
    axes: frozenset[int] = frozenset()
    nodes: tuple[Node, ...] = ()
    rows: int | None = None


def find_copies(view: View, owner: tuple[str, int]) -> Copies:
    """For a tensor that is no copy, the owner is the tensor itself.

    Reshapes of copies count with them as long as the last axis stays.
    """
    shape = view.shape(*owner)
    if not shape:
        return Copies(owner)
    reshaped: list[Node] = []
    node = view.made(*owner)
    while node is not None and view.reshapes(node) and len(reshaped) < _DEEPEST:
        before = view.shape(*node.inputs[0])
        if not before or before[-1] != shape[-1] or shape[-1] < 1:
            return Copies(owner)
        reshaped.append(node)
        node = view.made(*node.inputs[0])
    if node is None or not node.inputs:
        return Copies(owner)
    before, made = view.shape(*node.inputs[0]), view.shape(node.name)
    if not before or not made or before[-1] < 1:
        return Copies(owner)
    nodes = (node, *reshaped)
    all_but_last = frozenset(range(len(shape) - 1))
    if node.type in _COPIES:
        aligned = (1,) * (len(made) - len(before)) + before
        axes = frozenset(axis for axis, size in enumerate(made) if size != aligned[axis])
        if not axes or len(made) - 1 in axes:
            return Copies(owner)
        apart = not reshaped and all(aligned[axis] == 1 for axis in axes)
        rows = None if apart else (view.elements(*node.inputs[0]) or 0) // before[-1]
        return Copies(node.inputs[0], axes if apart else all_but_last, nodes, rows)
    if node.type == "GatherV2" and len(before) > 1 and made[-1] == before[-1] and names_rows(view, node):
        return Copies(node.inputs[0], all_but_last, nodes, (view.elements(*node.inputs[0]) or 0) // before[-1])
    return Copies(owner)
