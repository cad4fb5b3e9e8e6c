"""Kernels in a graph that are products of one vector for each direction, by their numbers.

Only what lies in the host's memory is looked at, in place: nothing is copied, and no operation is run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

#: Sizes of kernels that are looked at, along each direction: smaller ones take no longer than two vectors.
_SMALLEST, _LARGEST = 5, 257
#: Numbers of a kernel, and of all kernels of a graph that are looked at.
_MAX_NUMBERS, _MAX_ALL = 1 << 18, 1 << 20
#: Largest residue besides the product, relative to the kernel's largest number: the accumulated rounding of float32.
_RESIDUE = 1e-4
_FLOATS = {1: "<f4", 2: "<f8"}  # TensorFlow's numbers of types


def separable(graph: Any, constants: Iterable[Any]) -> list[str]:
    """Find kernels that equal a product of a column, a row and a matrix of the channels.

    Looked at are the captured tensors of a FuncGraph, by their placeholders, and its ``constants`` (NodeDefs), by name:
    matrices, and kernels of (height, width, channels, channels).
    """
    found, seen = [], 0
    for name, shape, numbers in (*_captured(graph), *_constants(constants)):
        seen += math.prod(shape)
        if seen > _MAX_ALL:
            break
        if is_product(numbers.reshape(shape)):
            found.append(name)
    return found


def _captured(graph: Any) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    for tensor, internal in getattr(graph, "captures", ()):
        try:
            shape = tuple(tensor.shape)
            if _fits(shape) and "CPU" in str(tensor.device) and tensor.dtype.is_floating and tensor.dtype.size >= 4:
                import numpy as np

                yield internal.op.name, shape, np.asarray(memoryview(tensor))
        except (AttributeError, TypeError, ValueError, BufferError):  # of another graph, or a variable's handle
            continue


def _constants(constants: Iterable[Any]) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    for node in constants:
        tensor = node.attr["value"].tensor
        kind = _FLOATS.get(tensor.dtype)
        shape = tuple(side.size for side in tensor.tensor_shape.dim)
        if kind is not None and _fits(shape) and len(tensor.tensor_content) == math.prod(shape) * int(kind[-1]):
            import numpy as np

            yield node.name, shape, np.frombuffer(tensor.tensor_content, kind)


def _fits(shape: tuple[int, ...]) -> bool:
    if len(shape) not in (2, 4) or not all(isinstance(side, int) for side in shape):
        return False
    return all(_SMALLEST <= side <= _LARGEST for side in shape[:2]) and 0 < math.prod(shape) <= _MAX_NUMBERS


def is_product(kernel: Any) -> bool:
    """Return whether an array (height, width) or (height, width, channels, channels) is a column times a row times a
    matrix: those that go through its largest number."""
    import numpy as np

    whole = kernel.reshape(*kernel.shape[:2], -1)
    row, column, channel = np.unravel_index(int(np.argmax(np.abs(whole))), whole.shape)
    peak = float(whole[row, column, channel])
    if not math.isfinite(peak) or peak == 0:
        return False
    down, along, channels = whole[:, column, channel], whole[row, :, channel] / peak, whole[row, column, :] / peak
    product = down[:, None, None] * along[None, :, None] * channels[None, None, :]
    return bool(np.max(np.abs(whole - product)) <= _RESIDUE * abs(peak))
