"""FLOPs of an operation of a graph under construction, by the one count of ``tfperfkit.graph.flops``."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfperfkit.graph.flops import flops
from tfperfkit.graph.model import Type


class Work(NamedTuple):
    """``coefficient * batch ** power`` floating-point operations; ``power`` is 0 if all sizes are known."""

    coefficient: float
    power: int


def work(operation: Any) -> Work | None:
    """The work of an operation of a type in ``flops.COUNTED``; None if the shapes don't tell.

    One size may be open at most; it is taken to be the batch.
    """
    try:
        one, two = (_count(operation, size) for size in (1, 2))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    # Each open size doubles the work if it is two instead of one.
    return Work(one, 0 if one == two else 1) if one is not None and two in (one, 2 * one) else None


def _count(operation: Any, open_size: int) -> float | None:
    taken = _Taken(operation, open_size)
    return flops(taken, [_type(tensor, open_size) for tensor in operation.inputs])


class _Taken:
    """An operation of TensorFlow's, in the form of a recorded node."""

    def __init__(self, operation: Any, open_size: int) -> None:
        self._operation = operation
        self.type: str = operation.type
        self.outputs = tuple(_type(tensor, open_size) for tensor in operation.outputs)

    def flag(self, name: str) -> bool:
        try:
            return bool(self._operation.get_attr(name))
        except ValueError:  # it has none of this name
            return False

    def text_attr(self, name: str) -> str:
        return str(self._operation.get_attr(name).decode())

    def integers(self, name: str) -> list[int]:
        return list(self._operation.get_attr(name))


def _type(tensor: Any, open_size: int) -> Type:
    dimensions, unknown = tensor._shape
    if unknown:
        return Type(tensor.dtype.name, None)
    return Type(tensor.dtype.name, tuple(open_size if size is None or size < 0 else size for size in dimensions))
