"""Tensors and constants of a graph that are nearly all zeros, by a sample of their numbers.

Only what lies in the host's memory is looked at, in place: nothing is copied, and no operation is run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

#: Reported from this share of zeros on.
_NEARLY_ALL = 0.9
#: A matrix of fewer numbers is multiplied in no time.
_MIN_NUMBERS = 1 << 18
_SAMPLE = 1 << 16
_FLOATS = {1: "<f4", 2: "<f8"}  # TensorFlow's numbers of types


def nearly_all_zeros(graph: Any, constants: Iterable[Any]) -> dict[str, float]:
    """Return the share of zeros (0 to 1) of the tensors that hold hardly anything else.

    Looked at are the captured tensors of a FuncGraph, by their placeholders, and its ``constants`` (NodeDefs), by name.
    """
    found = {**dict(_captured(graph)), **dict(_constants(constants))}
    return {name: share for name, share in found.items() if share >= _NEARLY_ALL}


def zeros_of(tensor: Any) -> float:
    """Return the share of zeros among the numbers of a tensor in the host's memory, by a sample; 0 if that is less
    than nearly all, it has few, or they are no floats."""
    try:
        share = _share_of(tensor)
    except (AttributeError, TypeError, ValueError, BufferError):
        return 0.0
    return share if share >= _NEARLY_ALL else 0.0


def _captured(graph: Any) -> Iterator[tuple[str, float]]:
    for tensor, internal in getattr(graph, "captures", ()):
        try:
            yield internal.op.name, _share_of(tensor)
        except (AttributeError, TypeError, ValueError, BufferError):  # of another graph, or a variable's handle
            continue


def _constants(constants: Iterable[Any]) -> Iterator[tuple[str, float]]:
    for node in constants:
        tensor = node.attr["value"].tensor
        kind = _FLOATS.get(tensor.dtype)
        if kind is not None and len(tensor.tensor_content) >= _MIN_NUMBERS * int(kind[-1]):
            yield node.name, _share(memoryview(tensor.tensor_content), kind)


def _share_of(tensor: Any) -> float:
    floats = "CPU" in str(tensor.device) and tensor.dtype.is_floating and tensor.dtype.size >= 4
    return _share(memoryview(tensor)) if floats else 0.0


def _share(data: memoryview, kind: str | None = None) -> float:
    """0 for few numbers."""
    import numpy as np

    numbers = np.asarray(data) if kind is None else np.frombuffer(data, kind)
    if numbers.size < _MIN_NUMBERS:
        return 0.0
    # An odd step goes through all columns of a matrix whose width is a power of two.
    step = max(1, numbers.size // _SAMPLE) | 1
    sample = numbers.reshape(-1)[::step]
    return float(np.count_nonzero(sample == 0)) / sample.size
