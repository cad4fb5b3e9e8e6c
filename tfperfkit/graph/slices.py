"""Which part of an axis a slice takes, if its bounds are fixed; how many elements, if only the number is fixed."""

from __future__ import annotations

import math

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View


def taken(view: View, node: Node, length: int, axis: int) -> tuple[int, int] | None:
    """Return (first, end) on an axis, counted from 0, of the tensor that a slice or a gather takes from; None if the
    bounds are not fixed, or the whole axis is taken.
    """
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


def kept_axis(view: View, node: Node, axis: int) -> int | None:
    """Return the axis of a slice's result for an axis that the slice takes whole; None if the slice takes a part."""
    shape = view.shape(*node.inputs[0])
    if node.type == "Slice":
        begin, size = view.integers(view.source(node, 1)), view.integers(view.source(node, 2))
        whole = shape is not None and begin is not None and size is not None and begin[axis] == 0
        return axis if whole and size is not None and shape is not None and size[axis] in (-1, shape[axis]) else None
    specs = view.shape(*node.inputs[1])
    if node.type != "StridedSlice" or not shape or not specs or not whole_along(view, node, axis):
        return None
    _, _, ellipsis, new_axis, shrink = _masks(node)
    before = [_position(specs[0], ellipsis, new_axis, len(shape), each) for each in range(axis)]
    return axis - sum(bit is not None and bool(shrink >> bit & 1) for bit in before)


def whole_along(view: View, node: Node, axis: int) -> bool:
    """Return whether ``x[..]`` takes all of an axis, one after the other, and puts no new axis before it."""
    shape, specs = view.shape(*node.inputs[0]), view.shape(*node.inputs[1])
    if not shape or not specs or specs[0] < 0:
        return False
    begin_mask, end_mask, ellipsis, new_axis, shrink = _masks(node)
    bit = _position(specs[0], ellipsis, new_axis, len(shape), axis)
    if new_axis & ((1 << (specs[0] if bit is None else bit)) - 1) or (bit is not None and shrink >> bit & 1):
        return False
    stride = view.integers(view.source(node, 3))
    whole = bit is None or bool(begin_mask >> bit & end_mask >> bit & 1)
    return whole and (bit is None or (stride is not None and stride[bit] == 1))


def taken_count(view: View, node: Node, length: int, axis: int) -> int | None:
    """Return how many places of an axis a slice or a lookup takes for each place of the axes before it, wherever they
    are; None if that is not fixed, or may be all."""
    fixed = taken(view, node, length, axis)
    if fixed is not None:
        return fixed[1] - fixed[0]
    shape = view.shape(*node.inputs[0])
    if not shape or axis >= len(shape):
        return None
    if node.type == "Slice":
        size = view.integers(view.source(node, 2))
        found = size[axis] if size is not None else -1
    elif node.type == "StridedSlice":
        found = _between(view, node, len(shape), axis)
    elif node.type == "GatherV2":
        batched, along = node.attr("batch_dims"), view.integers(view.source(node, 2))
        before = batched.i if batched is not None else 0
        indices = view.shape(*node.inputs[1])
        if not along or along[0] % len(shape) != axis or indices is None or before > axis:
            return None
        found = math.prod(indices[before:]) if -1 not in indices[before:] else -1
    elif node.type == "GatherNd":
        # Each index names a place in each of the first axes; the axis is the last one of these.
        indices = view.shape(*node.inputs[1])
        rows = math.prod(shape[:axis])
        named = bool(indices) and indices is not None and indices[-1] == axis + 1 and rows > 0
        found = math.prod(indices[:-1]) // rows if named and indices is not None and -1 not in indices else -1
    else:
        return None
    return found if 0 < found < length else None


def _between(view: View, node: Node, rank: int, axis: int) -> int:
    """Of ``x[i]`` and of ``x[i : i + 64]``, whatever i is; -1 for other bounds."""
    begin, end = (view.source(node, number) for number in (1, 2))
    if begin is None or end is None:
        return -1
    _, _, ellipsis, new_axis, shrink = _masks(node)
    specs = view.shape(*node.inputs[1])
    bit = _position(specs[0], ellipsis, new_axis, rank, axis) if specs else None
    if bit is None:
        return -1
    if shrink >> bit & 1:
        return 1
    if begin.type != "Pack" or end.type != "Pack" or bit >= min(len(begin.inputs), len(end.inputs)):
        return -1
    last = view.source(end, bit)
    if last is None or last.type not in ("Add", "AddV2"):
        return -1
    for number in (0, 1):
        more = view.integers(view.source(last, 1 - number))
        if view.alike.make_key(last.inputs[number]) == view.alike.make_key(begin.inputs[bit]) and more is not None:
            return more[0]
    return -1


def _masks(node: Node) -> list[int]:
    return [int(value.i) if (value := node.attr(name)) is not None else 0 for name in _MASKS]


def _strided(view: View, node: Node, rank: int, length: int, axis: int) -> tuple[int, int] | None:
    begin, end, stride = (view.integers(view.source(node, number)) for number in (1, 2, 3))
    begin_mask, end_mask, ellipsis, new_axis, shrink = _masks(node)
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
    """Return the position of an axis's specification among all specifications; None if the axis has none."""
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
