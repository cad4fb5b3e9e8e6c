"""Convolutions with a whole kernel that is the product of a column and a row."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit_probes.ops.graph import Node
from tfperfkit_probes.ops.model import Wasted
from tfperfkit_probes.ops.waste import numbers
from tfperfkit_probes.ops.waste.sizes import RESHAPES
from tfperfkit_probes.ops.waste.view import View

KIND = "separable"
_WHOLE, _EACH = "Conv2D", "DepthwiseConv2dNative"
_PRODUCTS = frozenset({"Mul", "MatMul"})
#: Along a side, from which on two vectors take clearly less than the whole kernel.
_SMALLEST = 5
_DEPTH = 6


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
    """What makes the kernel, past changes of its shape."""
    found = view.source(node, 1)
    for _ in range(_DEPTH):
        if found is None or found.type not in RESHAPES or not found.inputs:
            return found
        found = view.source(found, 0)
    return found


def _is_product(view: View, node: Node) -> bool:
    """Of a column and a row, made in each call."""
    if node.type not in _PRODUCTS or len(node.inputs) != 2:
        return False
    column, row = ((view.shape(*owner) or ())[:2] for owner in node.inputs)
    return len(column) == 2 == len(row) and column[1] == 1 == row[0]
