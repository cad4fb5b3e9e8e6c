"""``tf.sort`` and ``tf.argsort`` that are followed by a slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In graphs: the sort stays in there, and is not run where nothing else asks for it."""
    tensorflow: Any = module("tensorflow")
    sorts = module("tensorflow.python.ops.sort_ops")
    sorted_by: dict[Any, tuple[Any, str, bool]] = {}
    trial.refuse("no compiled function took the first few of what it sorts along the last axis")

    def sorting(original: Callable[..., Any]) -> Callable[..., Any]:
        def _sort_or_argsort(values: Any, axis: Any, direction: str, return_argsort: bool) -> Any:
            values = tensorflow.convert_to_tensor(values)
            result = original(values, axis, direction, return_argsort)
            last = isinstance(axis, int) and axis in (-1, (values.shape.rank or 0) - 1)
            turned = direction == "DESCENDING" or values.dtype.is_floating
            if last and turned and not tensorflow.executing_eagerly():
                sorted_by[result.ref()] = values, direction, return_argsort
            return result

        return _sort_or_argsort

    def slicing(original: Callable[..., Any]) -> Callable[..., Any]:
        def __getitem__(tensor: Any, spec: Any, *others: Any) -> Any:
            known = sorted_by.get(tensor.ref()) if sorted_by and not tensorflow.executing_eagerly() else None
            count = first_few(spec, tensor.shape.rank) if known else None
            if known is None or count is None:
                return original(tensor, spec, *others)
            trial.applied()
            values, direction, places = known
            size = tensorflow.minimum(count, tensorflow.shape(values)[-1])  # a slice may ask for more than there is
            falling = direction == "DESCENDING"
            found = tensorflow.math.top_k(values if falling else -values, size)
            if places:
                return found.indices
            return found.values if falling else -found.values

        return __getitem__

    with seams() as made:
        made.replace(sorts, "_sort_or_argsort", sorting)
        made.replace(attribute("tensorflow.python.framework.tensor", "Tensor"), "__getitem__", slicing)
        yield


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
