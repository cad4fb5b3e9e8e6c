"""``top-k``: finds only the first few of what a compiled function sorts, if it uses no more."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class TopK(Base):
    """Values and indices are those of the sort, which stays in the graph and is not run if nothing else needs it."""

    name = "top-k"
    keeps = "results"
    remedies = (ReplaceOps("top_k"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change a slice of ``tf.sort`` or ``tf.argsort`` in a graph."""
        tensorflow = seams.tensorflow
        sorted_by: dict[Any, tuple[Any, str, bool]] = {}
        seams.refuse("no compiled function took the first few of what it sorts along the last axis")

        def sort_or_argsort(original: Any, values: Any, axis: Any, direction: str, return_argsort: bool) -> Any:
            values = tensorflow.convert_to_tensor(values)
            result = original(values, axis, direction, return_argsort)
            last = isinstance(axis, int) and axis in (-1, (values.shape.rank or 0) - 1)
            negatable = direction == "DESCENDING" or values.dtype.is_floating
            if last and negatable and not tensorflow.executing_eagerly():
                sorted_by[result.ref()] = values, direction, return_argsort
            return result

        def getitem(original: Any, tensor: Any, spec: Any, *others: Any) -> Any:
            known = sorted_by.get(tensor.ref()) if sorted_by and not tensorflow.executing_eagerly() else None
            count = first_few(spec, tensor.shape.rank) if known else None
            if known is None or count is None:
                return original(tensor, spec, *others)
            seams.applied()
            values, direction, indices = known
            size = tensorflow.minimum(count, tensorflow.shape(values)[-1])  # a slice may ask for more than there is
            falling = direction == "DESCENDING"
            found = tensorflow.math.top_k(values if falling else -values, size)
            if indices:
                return found.indices
            return found.values if falling else -found.values

        seams.replace("tensorflow.python.ops.sort_ops", "_sort_or_argsort", sort_or_argsort)
        seams.replace("tensorflow.python.framework.tensor:Tensor", "__getitem__", getitem)


def first_few(spec: Any, rank: int | None) -> int | None:
    """How many of the first along the last axis a slice takes, with all along the others; None for any other slice."""
    parts = list(spec) if isinstance(spec, (tuple, list)) else [spec]
    if not parts or rank is None:
        return None
    *before, last = parts
    whole = all(part is Ellipsis or part == slice(None) for part in before if not hasattr(part, "shape"))
    if not whole or any(hasattr(part, "shape") for part in before) or len(parts) > rank + (Ellipsis in before):
        return None
    if Ellipsis not in before and len(parts) != rank:
        return None
    if not isinstance(last, slice) or last.start not in (None, 0) or last.step not in (None, 1):
        return None
    return last.stop if isinstance(last.stop, int) and last.stop > 0 else None
