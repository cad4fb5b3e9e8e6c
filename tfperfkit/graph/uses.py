"""Used part of a tensor: all rows, a part that is the same in every call, or the rows that a lookup names."""

from __future__ import annotations

from dataclasses import dataclass

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.slices import taken
from tfperfkit.graph.view import View

#: Operations that are followed one after the other.
_DEPTH = 6


@dataclass(frozen=True)
class UsedEnd:
    """``count`` places from one end of an axis are used. ``lookups``: the operations that looked up all in between."""

    count: int
    lookups: list[Node]


def used_at_one_end(view: View, node: Node, length: int, axis: int) -> UsedEnd | None:
    """Return how many places of an axis are used, of both results of an operation together, if slices with fixed bounds
    take them from one end; None if all may be used.

    The results may pass operations that work element by element, transpositions, and lookups of which they are the
    indices. ``length``: of the axis.
    """
    found = _Slices(view, length)
    if not all(found.follow(node, output, axis, 0) for output in range(len(node.outputs))) or not found.extents:
        return None
    first, last = min(begin for begin, _ in found.extents), max(end for _, end in found.extents)
    return UsedEnd(min(last, length - first), found.lookups)


class _Slices:
    """The slices that what follows from a tensor goes into; ``extents``: what they take of its axis."""

    def __init__(self, view: View, length: int) -> None:
        self._view = view
        self._length = length
        self.extents: list[tuple[int, int]] = []
        self.lookups: list[Node] = []

    def follow(self, node: Node, output: int, axis: int, depth: int) -> bool:
        """Return whether all uses of a result end in slices."""
        view = self._view
        if node.name in view.results or depth > _DEPTH:
            return False
        for use in view.uses(node, output):
            along = self._kept_axis(use.node, use.number, axis)
            if along is None and use.number == 1:
                along = self._looked_up(use.node, axis)
                self.lookups += [use.node] if along is not None else []
            if along is not None:
                if not self.follow(use.node, 0, along, depth + 1):
                    return False
                continue
            extent = taken(view, use.node, self._length, axis) if use.number == 0 else None
            if extent is None:
                return False
            self.extents.append(extent)
        return True

    def _kept_axis(self, node: Node, number: int, axis: int) -> int | None:
        """Return the axis in the result of an operation that keeps its places; None for other operations."""
        if node.type == "Transpose" and number == 0:
            order = self._view.integers(self._view.source(node, 1))
            return order.index(axis) if order and axis in order else None
        # The ascending order of integers is the largest one minus each.
        if node.type in UNARY or (node.type == "Sub" and number == 1):
            before, made = self._view.shape(*node.inputs[number]), self._view.shape(node.name)
            return axis if before is not None and made is not None and len(before) == len(made) else None
        return None

    def _looked_up(self, node: Node, axis: int) -> int | None:
        """Return the axis of a lookup's result along which its indices lie; None for no lookup."""
        along = self._view.integers(self._view.source(node, 2)) if node.type == "GatherV2" else None
        shape = self._view.shape(*node.inputs[0])
        if not along or not shape:
            return None
        batched = node.attr("batch_dims")
        return along[0] % len(shape) + axis - (batched.i if batched is not None else 0)


def names_rows(view: View, lookup: Node) -> bool:
    """Return whether a ``GatherV2`` names rows: it looks up along the first axis, and all examples share the
    indices."""
    batched, axis = lookup.attr("batch_dims"), view.integers(view.source(lookup, 2))
    return axis == [0] and not (batched is not None and batched.i)
