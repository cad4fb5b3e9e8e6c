"""Sizes that a graph leaves open, as far as they follow from the size of a batch and from what a tensor is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node

#: Operations that hand on their input as it is.
SAME = optable.names(trait="same")
#: Those that give the same numbers another shape.
RESHAPES = optable.names(kind="reshape")
#: Those that work element by element on one tensor, and on several that are broadcast.
UNARY = optable.names(kind="unary")
BINARY = optable.names(kind=("binary", "bias", "select"), axis=("each", "bias"))
#: Those that make as many numbers as they take.
KEEPS_COUNT = SAME | RESHAPES | UNARY | optable.names(kind=("transpose", "bias", "softmax"), differentiates=False)

Shape = tuple[int, ...]


class Size(NamedTuple):
    """A tensor's shape, -1 where it is open, None of unknown rank; and how many numbers it has, None if not known:
    that may be known of a tensor of which two sizes are open."""

    shape: Shape | None
    numbers: int | None


def size_of(shape: Shape | None) -> Size:
    """Return the size by the shape alone."""
    return Size(shape, math.prod(shape) if shape is not None and -1 not in shape else None)


def opened(node: Node, made: Shape, inputs: Sequence[Size], open_size: int | None) -> Size:
    """Return the size of a node's result, ``made`` by the graph, with what follows of its open sizes."""
    first = inputs[0] if inputs else Size(None, None)
    count = first.numbers if node.type in KEEPS_COUNT else None
    if node.type in RESHAPES or node.type == "Transpose":
        made = _of_count(made, count)
    elif node.type in KEEPS_COUNT and first.shape is not None and len(first.shape) == len(made):
        made = _joined(made, [first.shape])
    elif node.type in BINARY and all(each.shape is not None for each in inputs):
        made = _joined(made, [each.shape for each in inputs if each.shape is not None])
    elif node.type == "MatMul" and len(inputs) == 2:
        left = flattened(node, first, inputs[1])
        rows = left[1 if node.flag("transpose_a") else 0] if left is not None else -1
        made = (rows if made[0] < 0 else made[0], made[1])
    elif open_size is not None and made and made[0] < 0:
        made = (open_size, *made[1:])
    known = size_of(made)
    return known if known.numbers is not None else Size(made, count)


def flattened(node: Node, left: Size, right: Size) -> Shape | None:
    """Return the shape of a product's first operand, also where all but its last axis were made one of unknown size."""
    if left.shape is None or right.shape is None or -1 not in left.shape or left.numbers is None:
        return left.shape
    inner = right.shape[1 if node.flag("transpose_b") else 0]
    if inner <= 0:
        return left.shape
    rows = left.numbers // inner
    return (inner, rows) if node.flag("transpose_a") else (rows, inner)


def _of_count(made: Shape, count: int | None) -> Shape:
    known = math.prod(size for size in made if size >= 0)
    if count is None or made.count(-1) != 1 or known <= 0 or count % known:
        return made
    return tuple(count // known if size < 0 else size for size in made)


def _joined(made: Shape, inputs: Sequence[Shape]) -> Shape:
    """Open sizes from those of what is broadcast together."""
    sizes = list(made)
    for back in range(1, len(made) + 1):
        if made[-back] < 0:
            sizes[-back] = max((each[-back] for each in inputs if len(each) >= back), default=-1)
    return tuple(sizes)
