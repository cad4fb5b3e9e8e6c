"""Floating-point operations of one operation, from the types of its inputs and outputs.

A multiply-add counts as two. Products and convolutions are exact, and padding counts as computed. Operations that work
element by element count one per element, and a few compound ones the factor in the table. Operations without a rule
move data and count none. The conventions are those of TensorFlow's ``flops_registry``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Protocol

from tfperfkit.graph import optable
from tfperfkit.graph.model import Type

#: Products and convolutions whose FLOPs are counted: nearly all the arithmetic of a network.
COUNTED = frozenset(
    name
    for name in optable.names(kind=("product", "convolution"))
    if optable.row(name).flops.startswith(("matmul", "conv", "depthwise", "einsum"))
)
#: A count of None: a size is open.
Count = float | None
#: ``14*in9``: so many per element of input 9. ``1*out``: per element of the first output.
_FACTOR = re.compile(r"(?P<factor>\d+)\*(?:in(?P<number>\d+)|out)")

#: The arithmetic, in n^3, of factorising a matrix of n rows by LU, as a determinant and a solution do, and by Cholesky;
#: of an inverse by LU, and of one by Cholesky's factor. See Golub and Van Loan, Matrix Computations, chapters 3 and 4.
LU, CHOLESKY, INVERSE, INVERSE_OF_FACTOR = 2 / 3, 1 / 3, 2.0, 5 / 3


class Operation(Protocol):
    """The questions to an operation: a recorded one (``model.Node``), or one of a graph under construction."""

    type: str
    outputs: tuple[Type, ...]

    def flag(self, name: str) -> bool: ...
    def text_attr(self, name: str) -> str: ...
    def integers(self, name: str) -> list[int]: ...


def flops(node: Operation, inputs: Sequence[Type]) -> Count:
    """Count one execution of the operation, without the bodies that it calls."""
    rule = optable.row(node.type).flops
    if not rule:
        return 0.0
    found = _FACTOR.fullmatch(rule)
    if found is None:
        name, *places = rule.split(":")
        return _FORMULAS[name](node, inputs, places)
    number = found["number"]
    types, index = (node.outputs, 0) if number is None else (inputs, int(number))
    if index == 0 and not _is_float(types):
        return 0.0
    return _product(_elements(types, index), float(found["factor"]))


def _is_float(types: Sequence[Type]) -> bool:
    """Integers and Booleans are no floating-point operations."""
    return bool(types) and types[0].dtype.startswith(("float", "bfloat", "half", "complex"))


def _elements(types: Sequence[Type], index: int) -> Count:
    return types[index].elements if index < len(types) else None


def _product(*counts: Count) -> Count:
    result = 1.0
    for count in counts:
        if count is None:
            return None
        result *= count
    return result


def _size(types: Sequence[Type], index: int, axis: int) -> Count:
    shape = types[index].shape if index < len(types) else None
    if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] < 0:
        return None
    return shape[axis]


def _matmul(node: Operation, inputs: Sequence[Type], places: Sequence[str]) -> Count:
    transposed = node.flag("transpose_a") or node.flag("adj_x")
    return _product(2, _elements(node.outputs, 0), _size(inputs, 0, -2 if transposed else -1))


def _convolution(node: Operation, inputs: Sequence[Type], places: Sequence[str]) -> Count:
    """Multiply-adds of one element of the forward result, times the number of these elements.

    ``places``: where the forward result and the filter are: ``out`` or ``in`` with a number. A filter's last axis is
    the output channels. A depthwise filter is [height, width, channels, multiplier]: each result sees one channel.
    """
    result, kernel = (node.outputs[:1] if place == "out" else inputs[int(place[2:]) :][:1] for place in places)
    shape = kernel[0].shape if kernel else None
    if not shape:
        return None
    inner = shape[:-2] if optable.row(node.type).flops.startswith("depthwise") else shape[:-1]
    return _product(2, _elements(result, 0), *(None if size < 0 else size for size in inner))


def _pool(node: Operation, inputs: Sequence[Type], places: Sequence[str]) -> Count:
    """Count each element of the forward result once per element of the window. ``places``: where the result is."""
    made = _elements(node.outputs, 0) if places == ["out"] else _elements(inputs, int(places[0][2:]))
    return _product(made, *(float(size) for size in node.integers("ksize")))


def _add_n(node: Operation, inputs: Sequence[Type], places: Sequence[str]) -> Count:
    return _product(max(len(inputs) - 1, 0), _elements(node.outputs, 0)) if _is_float(node.outputs) else 0.0


def _einsum(node: Operation, inputs: Sequence[Type], places: Sequence[str]) -> Count:
    """Multiply the sizes of all labels: two tensors are multiplied and summed over the labels that the result lacks."""
    left = node.text_attr("equation").replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for labels, type_ in zip(left, inputs, strict=False):
        if type_.shape is None or "..." in labels or len(labels) != len(type_.shape):
            return None
        sizes.update(zip(labels, type_.shape, strict=True))
    if any(size < 0 for size in sizes.values()):
        return None
    return float(math.prod(sizes.values()) * (2 if len(left) > 1 else 1))


_FORMULAS: dict[str, Callable[[Operation, Sequence[Type], Sequence[str]], Count]] = {
    "matmul": _matmul,
    "conv": _convolution,
    "depthwise": _convolution,
    "pool": _pool,
    "add_n": _add_n,
    "einsum": _einsum,
}
