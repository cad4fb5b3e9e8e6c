"""Convolutions with a whole kernel that is the product of a column and a row."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.view import View
from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers

KIND = "separable"
_WHOLE, _EACH = "Conv2D", "DepthwiseConv2dNative"
_PRODUCTS = frozenset({"Mul", "MatMul"})
#: Along a side, from which on two vectors take clearly less than the whole kernel.
_SMALLEST = 5
_DEPTH = 8


class _Kernel(NamedTuple):
    """``work``: multiplications for each place of the picture; ``left``: so many take as long as a column and a row."""

    node: Node
    shape: tuple[int, ...]
    work: float
    left: float


def separable(view: View) -> Iterator[Wasted]:
    """Those of one line together, by captured tensors and constants whose numbers were looked at when the function was
    traced, or by how the kernel is made in the function."""
    found: dict[SourceSpan | None, list[_Kernel]] = defaultdict(list)
    for node in view.forward:
        if node.type in (_WHOLE, _EACH) and len(node.inputs) > 1 and (kernel := _kernel(view, node)) is not None:
            found[node.place].append(kernel)
    for place, kernels in found.items():
        height, width, *channels = max(kernels, key=lambda kernel: kernel.work).shape
        yield Wasted(
            kind=KIND,
            where=place,
            operations=[kernel.node.name for kernel in kernels],
            left=sum(kernel.left for kernel in kernels) / sum(kernel.work for kernel in kernels),
            figures={"height": float(height), "width": float(width), "channels": float(math.prod(channels))},
        )


def _kernel(view: View, node: Node) -> _Kernel | None:
    shape = view.shape(*node.inputs[1])
    if shape is None or len(shape) != 4 or min(shape) < 1 or min(shape[:2]) < _SMALLEST:
        return None
    made = _made(view, node)
    if made is None or not (made.name in view.separable or _is_product(view, made)):
        return None
    height, width, channels, others = shape
    # A column for each pair of channels (or for each channel), then a row for each result.
    rows = others if node.type == _WHOLE else channels * others
    slower = numbers.SEPARATED_SLOWER if node.type == _WHOLE else numbers.EACH_SEPARATED_SLOWER
    left = slower.value * (height * channels * others + width * rows)
    return _Kernel(node, shape, math.prod(shape), min(left, math.prod(shape)))


def _made(view: View, node: Node) -> Node | None:
    """What makes the kernel, past changes of its shape and size, and copies for each channel."""
    found = view.source(node, 1)
    for _ in range(_DEPTH):
        number = _passes(view, found) if found is not None else None
        if found is None or number is None:
            return found
        found = view.source(found, number)
    return found


def _passes(view: View, node: Node) -> int | None:
    """The number of the input that an operation leaves as it is along a picture's axes, up to one factor for all; None
    for any other operation."""
    if node.inputs and view.reshapes(node):
        return 0
    if node.type in ("Tile", "BroadcastTo"):
        before, after = view.shape(*node.inputs[0]), view.shape(node.name)
        return 0 if before and after and before[:2] == after[:2] and len(before) == len(after) else None
    if node.type == "Pack":
        axis = node.attr("axis")
        last = axis is not None and axis.i not in (0, 1)
        return 0 if last and len({view.alike.key(owner) for owner in node.inputs}) == 1 else None
    if node.type in ("Mul", "RealDiv", "DivNoNan") and len(node.inputs) == 2:
        if view.elements(*node.inputs[1]) == 1:
            return 0
        return 1 if node.type == "Mul" and view.elements(*node.inputs[0]) == 1 else None
    return None


def _is_product(view: View, node: Node) -> bool:
    """Of a column and a row, made in each call; the exponential of their sum is one too, and a box is."""
    if node.type == "Einsum" and len(node.inputs) == 2:
        labels, _, out = node.text_attr("equation").replace(" ", "").partition("->")
        first, _, second = labels.partition(",")
        return len(first) == len(second) == 1 and first != second and sorted(out) == sorted(first + second)
    if node.type == "Exp":
        return _is_sum(view, view.source(node, 0))
    if node.type == "Fill" or (node.type == "Const" and view.filled(node) is not None):
        return True
    return node.type in _PRODUCTS and _crossed(view, node)


def _is_sum(view: View, node: Node | None) -> bool:
    """Whether a matrix is a column plus a row, times a number."""
    for _ in range(_DEPTH):
        if node is None or node.type in ("Add", "AddV2"):
            break
        number = 0 if node.type == "Neg" else _passes(view, node)
        node = view.source(node, number) if number is not None else None
    if node is None or len(node.inputs) != 2:
        return False
    along = [_varies(view, owner, _DEPTH) for owner in node.inputs]
    return _crossed(view, node) or {1, 2} == {*along}


def _varies(view: View, owner: tuple[str, int], depth: int) -> int:
    """The one axis, counted from 1, along which a matrix that ``tf.meshgrid`` made is not the same; 0 where it is not
    one."""
    node, shape = view.made(*owner), view.shape(*owner)
    if node is None or not depth or shape is None:
        return 0
    if len(shape) == 2 and 1 in shape:
        return 1 if shape[1] == 1 else 2
    if node.type in UNARY:
        return _varies(view, node.inputs[0], depth - 1)
    if node.type in ("BroadcastTo", "Tile"):
        return _varies(view, node.inputs[0], depth - 1)
    if node.type in ("Mul", "Pow", "RealDiv", "Sub", "AddV2") and len(node.inputs) == 2:
        # A number, or a matrix of ones, changes nothing; with itself it is a square.
        kinds = [view.made(*each) for each in node.inputs]
        left = [
            each
            for each, made in zip(node.inputs, kinds, strict=True)
            if view.elements(*each) != 1
            and not (made is not None and (made.type == "Fill" or (made.type == "Const" and view.filled(made))))
        ]
        axes = {_varies(view, each, depth - 1) for each in left}
        return axes.pop() if len(axes) == 1 else 0
    return 0


def _crossed(view: View, node: Node) -> bool:
    """Whether its two inputs are a column and a row, in this order or the other."""
    if len(node.inputs) != 2:
        return False
    column, row = ((view.shape(*owner) or ())[:2] for owner in node.inputs)
    if node.type != "MatMul" and len(row) == 1 and len(column) == 2:
        row = (1, *row)
    if node.type != "MatMul" and len(column) == 2 and column[0] == 1:
        column, row = row, column
    return len(column) == 2 == len(row) and column[1] == 1 == row[0]
