"""Datasets whose batches have lengths that are multiples of a number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.iterated import on_iteration
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial, multiple: int) -> Iterator[None]:
    """Iteration in the person's code, and ``fit``'s own. How many examples a batch has stays."""
    tensorflow: Any = module("tensorflow")
    made: list[tuple[Any, Any]] = []  # so that a loop that begins anew gets the same dataset

    def fill(tensor: Any, spec: Any) -> Any:
        if not _varies(spec):
            return tensor
        sizes = tensorflow.shape(tensor)
        more = [
            -sizes[axis] % multiple if axis and size is None else 0 for axis, size in enumerate(spec.shape.as_list())
        ]
        return tensorflow.pad(tensor, [[0, size] for size in more], constant_values=tensorflow.zeros([], tensor.dtype))

    def padded(dataset: Any, length: int | None) -> Any:
        for known, given in made:
            if known is dataset:
                return given
        spec = getattr(dataset, "element_spec", None)
        if not any(_varies(item) for item in tensorflow.nest.flatten(spec)):
            trial.refuse("all elements of a batch have known sizes")
            return dataset

        def on_element(*parts: Any) -> Any:
            whole = parts if isinstance(spec, tuple) else parts[0]
            return tensorflow.nest.map_structure(fill, whole, spec)

        given = dataset.map(on_element)
        made.append((dataset, given))
        trial.applied()
        return given

    with seams() as replaced:
        on_iteration(replaced, trial, padded)
        yield


def _varies(spec: Any) -> bool:
    """Whether a size other than that of the batch is open."""
    shape = getattr(spec, "shape", None)
    if type(spec).__name__ != "TensorSpec" or shape is None or shape.rank is None:
        return False
    return any(size is None for size in shape.as_list()[1:])
