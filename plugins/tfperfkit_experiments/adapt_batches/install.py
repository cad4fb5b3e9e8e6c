"""``adapt`` of Keras' layers that count, or take means."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams
from tfperfkit_experiments.stages import KEEPS, constant, stages

#: As the advice of the finding has it.
_BATCH = 1024
_PLACE = "keras.src.layers.preprocessing."
#: Not ``Discretization``: what it keeps of its data depends on the batches.
_LAYERS = (
    ("normalization", "Normalization"),
    ("index_lookup", "IndexLookup"),
    ("string_lookup", "StringLookup"),
    ("integer_lookup", "IntegerLookup"),
    ("text_vectorization", "TextVectorization"),
)


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Datasets whose stages tell that their batches are smaller, of examples of one shape."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no layer was adapted over a dataset in small batches of examples of one shape")

    def adapting(original: Callable[..., Any]) -> Callable[..., Any]:
        def adapt(layer: Any, data: Any, *arguments: Any, **named: Any) -> Any:
            # With a number of steps, larger batches would be more data.
            counted = arguments or any(value is not None for value in named.values())
            if not counted and isinstance(data, tensorflow.data.Dataset) and _small(tensorflow, data):
                data = data.rebatch(_BATCH)
                trial.applied()
            return original(layer, data, *arguments, **named)

        return adapt

    with seams() as made:

        def keras() -> None:
            for place, name in _LAYERS:
                kind = getattr(sys.modules.get(_PLACE + place), name, None)
                if kind is not None and "adapt" in vars(kind):
                    made.replace(kind, "adapt", adapting)

        trial.when_keras(keras)
        yield


def _small(tensorflow: Any, data: Any) -> bool:
    for item in tensorflow.nest.flatten(data.element_spec):
        shape = item.shape if isinstance(item, tensorflow.TensorSpec) else None
        if shape is None or not shape.rank or shape[0] is not None or not shape[1:].is_fully_defined():
            return False
    for kind, stage in stages(data):
        if kind == "batch":
            size = constant(getattr(stage, "_batch_size", None))
            return size is not None and size < _BATCH
        if kind not in KEEPS and kind != "repeat":
            return False
    return False
