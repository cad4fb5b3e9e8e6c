"""The types of the tensors that operations take and make, each type kept once."""

from __future__ import annotations

from typing import Any

from tfperfkit.graph import optable
from tfperfkit.instruments.graphs.snapshot import type_text

#: Operations that only name, hand on or reshape what is there: they move nothing.
_PASSING = optable.names(trait="passes") - optable.names(kind="variable-gather")


class Tensors:
    """Types by number, for all graphs of a trace."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.texts: list[str] = []

    def of(self, operation: Any, kind: str) -> tuple[list[int], list[int]] | None:
        """The numbers of the types that it takes and makes; None for an operation that moves nothing."""
        if kind in _PASSING:
            return None
        try:
            return [self._number(each) for each in operation.inputs], [self._number(each) for each in operation.outputs]
        except (AttributeError, TypeError, ValueError):
            return None

    def _number(self, tensor: Any) -> int:
        dtype = tensor.dtype
        dimensions, unknown = tensor._shape
        key = (dtype.as_datatype_enum, None if unknown else tuple(dimensions))
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.texts)
            self.texts.append(type_text(dtype.name, key[1]))
        return number
