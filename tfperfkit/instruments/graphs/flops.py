"""Floating-point operations of a graph's heavy operations, from their static shapes.

A multiplication and an addition count as two. At most one unknown size is allowed for, taken to be the batch:
``Work(coefficient, power)`` is then ``coefficient * batch ** power``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

Shape = Sequence[int | None]


class Work(NamedTuple):
    """``coefficient * batch ** power`` floating-point operations; ``power`` is 0 where all sizes are known."""

    coefficient: float
    power: int


def work(operation: Any) -> Work | None:
    """The work of an operation of one of the ``records.graphs.HEAVY`` types; None where the shapes don't tell."""
    try:
        inputs = [tensor.shape.as_list() for tensor in operation.inputs]
        output = operation.outputs[0].shape.as_list()
        sizes = _sizes(operation, inputs, output)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    if sizes is None:
        return None
    unknown = sum(size is None for size in sizes)
    if unknown > 1:
        return None
    return Work(2.0 * prod(size for size in sizes if size is not None), unknown)


def _sizes(operation: Any, inputs: list[Shape], output: Shape) -> list[int | None] | None:
    """The factors whose product is the number of multiplications."""
    kind: str = operation.type
    if kind == "MatMul":
        return [*output, inputs[0][0 if operation.get_attr("transpose_a") else 1]]
    if kind.startswith("BatchMatMul"):
        return [*output, inputs[0][-2 if operation.get_attr("adj_x") else -1]]
    if kind == "Einsum":
        return _einsum(operation.get_attr("equation").decode(), inputs)
    # Each value on the large side of a convolution meets every weight that leads to one output channel.
    depthwise = kind.startswith("Depthwise")
    if kind.endswith(("BackpropInput", "BackpropInputV2")):
        return _convolution(inputs[2], inputs[1], depthwise)
    if kind.endswith(("BackpropFilter", "BackpropFilterV2")):
        return _convolution(inputs[2], output, depthwise)
    return _convolution(output, inputs[1], depthwise)


def _convolution(outer: Shape, weights: Shape, depthwise: bool) -> list[int | None]:
    """``outer``: the convolution's output, or the gradient of it; ``weights``: [..., in channels, out channels]."""
    return [*outer, *weights[: -2 if depthwise else -1]]


def _einsum(equation: str, inputs: list[Shape]) -> list[int | None] | None:
    left = equation.partition("->")[0].split(",")
    if "." in equation or len(left) != len(inputs):
        return None
    sizes: dict[str, int | None] = {}
    for letters, shape in zip(left, inputs, strict=True):
        for letter, size in zip(letters, shape, strict=True):
            sizes[letter] = size if size is not None else sizes.get(letter)
    return list(sizes.values())
