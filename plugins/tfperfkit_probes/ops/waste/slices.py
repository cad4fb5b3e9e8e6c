"""Which part of an axis a slice with fixed bounds takes."""

from __future__ import annotations

from tfperfkit_probes.ops.graph import Node
from tfperfkit_probes.ops.waste.view import View


def taken(view: View, node: Node, length: int, axis: int) -> tuple[int, int] | None:
    """(first, end) on an axis, counted from 0, of the tensor that a slice or a gather takes from; None where that is
    not fixed, or all of it."""
    shape = view.shape(*node.inputs[0])
    if shape is None:
        return None
    if node.type == "StridedSlice":
        return _strided(view, node, len(shape), length, axis)
    if node.type == "Slice":
        begin, size = view.integers(view.source(node, 1)), view.integers(view.source(node, 2))
        if not begin or not size:
            return None
        return _part(begin[axis], length if size[axis] < 0 else begin[axis] + size[axis], length)
    if node.type == "GatherV2":
        indices, along = view.integers(view.source(node, 1)), view.integers(view.source(node, 2))
        batched = node.attr("batch_dims")
        if not indices or not along or along[0] % len(shape) != axis or (batched is not None and batched.i):
            return None
        places = [index % length for index in indices]
        return _part(min(places), max(places) + 1, length)
    return None


def _strided(view: View, node: Node, rank: int, length: int, axis: int) -> tuple[int, int] | None:
    begin, end, stride = (view.integers(view.source(node, number)) for number in (1, 2, 3))
    masks = [int(value.i) if (value := node.attr(name)) is not None else 0 for name in _MASKS]
    begin_mask, end_mask, ellipsis, new_axis, shrink = masks
    if not begin or not end or not stride:
        return None
    bit = _position(len(begin), ellipsis, new_axis, rank, axis)
    if bit is None or stride[bit] == 0:
        return None
    if shrink >> bit & 1:
        at = begin[bit] % length
        return at, at + 1
    first = None if begin_mask >> bit & 1 else begin[bit]
    last = None if end_mask >> bit & 1 else end[bit]
    covered = range(length)[slice(first, last, stride[bit])]
    return _part(min(covered), max(covered) + 1, length) if covered else None


def _position(specs: int, ellipsis: int, new_axis: int, rank: int, axis: int) -> int | None:
    """Where what is said of an axis stands among what is said of all; None if nothing is."""
    given = [bit for bit in range(specs) if not (ellipsis >> bit & 1 or new_axis >> bit & 1)]
    dots = next((bit for bit in range(specs) if ellipsis >> bit & 1), specs)
    before = [bit for bit in given if bit < dots]
    after = [bit for bit in given if bit > dots]
    if axis < len(before):
        return before[axis]
    back = axis - (rank - len(after))
    return after[back] if back >= 0 and after else None


def _part(first: int, end: int, length: int) -> tuple[int, int] | None:
    return (first, end) if 0 <= first < end <= length and end - first < length else None


_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
