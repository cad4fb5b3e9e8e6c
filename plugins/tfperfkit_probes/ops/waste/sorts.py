"""A sort of all numbers, or all rows in random order, of which only the first few, or the last few, are used."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfperfkit_probes.ops.graph import Node
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste.sizes import UNARY
from tfperfkit_probes.ops.waste.slices import taken
from tfperfkit_probes.ops.waste.view import View

KIND, SHUFFLE = "sort", "shuffle"
#: Shorter rows are sorted in no time.
_MIN_ROW = 64
_DEPTH = 6


def sorts(view: View) -> Iterator[Wasted]:
    """``tf.sort``, ``tf.argsort`` and ``tf.math.top_k`` whose results go into slices with fixed bounds only."""
    for node in view.forward:
        if node.type not in ("TopKV2", "TopK") or len(node.outputs) != 2:
            continue
        row, made = view.shape(*node.inputs[0]), view.shape(node.name)
        if row is None or made is None or not row or made[-1] < _MIN_ROW:
            continue
        # Of an open size all is sorted where the number asked for is the row's own.
        lookups: list[Node] = []
        used = _used(view, node, made[-1], len(made) - 1, lookups)
        if used is None or used >= made[-1] / 2:
            continue
        whole, rows = row[-1], math.prod(row[:-1])
        yield Wasted(
            kind=KIND,
            where=node.place,
            places=[each.place for each in lookups if each.place is not None],
            operations=[node.name, *(each.name for each in lookups)],
            left=work(whole, used) / work(whole, made[-1]),
            figures={"all": made[-1], "used": used, "rows": max(rows, 1)},
        )


def shuffles(view: View) -> Iterator[Wasted]:
    """``tf.random.shuffle`` whose result goes into slices with fixed bounds only: a few rows are drawn."""
    for node in view.forward:
        made, numbers = view.shape(node.name) if node.type == "RandomShuffle" else None, view.elements(node.name)
        if not made or numbers is None or made[0] < _MIN_ROW:
            continue
        lookups: list[Node] = []
        used = _used(view, node, made[0], 0, lookups)
        if used is None or used >= made[0] / 2:
            continue
        yield Wasted(
            kind=SHUFFLE,
            where=node.place,
            places=[each.place for each in lookups if each.place is not None],
            operations=[node.name, *(each.name for each in lookups)],
            left=used / made[0],
            figures={"all": made[0], "used": used, "numbers": numbers},
        )


def work(count: int, largest: int) -> float:
    """Comparisons for the largest few of ``count`` numbers: each with the smallest so far, and those few in order."""
    return count + largest * math.log2(max(largest, 2))


def _used(view: View, node: Node, length: int, axis: int, lookups: list[Node]) -> int | None:
    """How many from one end are used; None where all may be. ``lookups`` of all in that order are added."""
    extents: list[tuple[int, int]] = []
    for output in (0, 1):
        if not _follow(view, node, output, length, axis, extents, lookups, 0):
            return None
    if not extents:
        return None
    first, last = min(begin for begin, _ in extents), max(end for _, end in extents)
    return min(last, length - first)


def _follow(
    view: View,
    node: Node,
    output: int,
    length: int,
    axis: int,
    extents: list[tuple[int, int]],
    lookups: list[Node],
    depth: int,
) -> bool:
    """Whether what was sorted along an axis goes into slices only, or names what is looked up and sliced then;
    ``extents``: what they take."""
    if node.name in view.results or depth > _DEPTH:
        return False
    for use in view.uses(node, output):
        along: int | None = axis
        if use.node.type == "Transpose":
            order = view.integers(view.source(use.node, 1))
            along = order.index(axis) if order and axis in order else None
        # The ascending order of integers: the largest one minus each.
        number_by_number = use.node.type in UNARY or (use.node.type == "Sub" and use.number == 1)
        if along is not None and (number_by_number or use.node.type == "Transpose"):
            if not _follow(view, use.node, 0, length, along, extents, lookups, depth + 1):
                return False
            continue
        if use.number == 1 and (looked := _looked_up(view, use.node, axis)) is not None:
            lookups.append(use.node)
            if not _follow(view, use.node, 0, length, looked, extents, lookups, depth + 1):
                return False
            continue
        extent = taken(view, use.node, length, axis) if use.number == 0 else None
        if extent is None:
            return False
        extents.append(extent)
    return True


def _looked_up(view: View, node: Node, axis: int) -> int | None:
    """The axis of a lookup's result along which its indices lie; None for no lookup."""
    along = view.integers(view.source(node, 2)) if node.type == "GatherV2" else None
    shape = view.shape(*node.inputs[0])
    if not along or not shape:
        return None
    batched = node.attr("batch_dims")
    return along[0] % len(shape) + axis - (batched.i if batched is not None else 0)
