"""Matmuls, batched matmuls and einsums of two tensors in one form: a label for each axis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import flattened
from tfperfkit.graph.view import View

_BATCHED = optable.names(kind="product", trait="batched", differentiates=False)
_OUTER_LABELS = "ijklmn"
#: Above this rank there are no labels left.
_MAX_RANK = len(_OUTER_LABELS) + 2


@dataclass(frozen=True)
class Product:
    """A product as an einsum: the labels of both inputs and of the result, and the labels' sizes."""

    node: Node
    left: str
    right: str
    out: str
    sizes: dict[str, int]

    @property
    def flops(self) -> float:
        """FLOPs of one run, two for each pair of numbers that is multiplied and added."""
        return 2.0 * math.prod(self.sizes.values())


def product_of(view: View, node: Node) -> Product | None:
    """Read a product of two tensors; None for any other operation, or if a size is open."""
    if len(node.inputs) != 2:
        return None
    left, right = view.shapes(node)
    if left is None or right is None:
        return None
    if node.type == "Einsum":
        labels = node.text_attr("equation").replace(" ", "")
        if "..." in labels or labels.count(",") != 1 or "->" not in labels:
            return None
        both, out = labels.split("->")
        first, second = both.split(",")
    elif node.type == "MatMul":
        left = flattened(node, *(view.size(*owner) for owner in node.inputs)) or left
        first = "ba" if node.flag("transpose_a") else "ab"
        second, out = ("cb" if node.flag("transpose_b") else "bc"), "ac"
    elif node.type in _BATCHED and 2 <= len(right) <= len(left) <= _MAX_RANK and right[:-2] in (left[:-2], ()):
        outer = _OUTER_LABELS[: len(left) - 2]
        first = outer + ("ba" if node.flag("adj_x") else "ab")
        second, out = outer[: len(right) - 2] + ("cb" if node.flag("adj_y") else "bc"), outer + "ac"
    else:
        return None
    sizes: dict[str, int] = {}
    for names, shape in ((first, left), (second, right)):
        if len(names) != len(shape) or len(set(names)) != len(names):
            return None
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, size))
    return None if min(sizes.values(), default=-1) < 0 else Product(node, first, second, out, sizes)
