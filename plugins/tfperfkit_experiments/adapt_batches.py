"""``adapt-batches``: rebatches the dataset that ``adapt`` of a Keras layer goes through to 1024 examples."""

from __future__ import annotations

import sys
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import BatchSize
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams
from tfperfkit_experiments.stages import KEEPS, batch_size

#: As the advice of the finding says.
_BATCH = 1024
_PLACE = "keras.src.layers.preprocessing."
#: Without ``Discretization``: what it keeps of its data depends on the batches.
_LAYERS = (
    ("normalization", "Normalization"),
    ("index_lookup", "IndexLookup"),
    ("string_lookup", "StringLookup"),
    ("integer_lookup", "IntegerLookup"),
    ("text_vectorization", "TextVectorization"),
)


class AdaptBatches(Base):
    """Keeps the examples. Means and variances are put together from fewer parts, so rounding may differ."""

    name = "adapt-batches"
    keeps = "mathematics"
    remedies = (BatchSize("adapt"),)
    whole_run = True

    def apply(self, seams: Seams, change: Change) -> None:
        """Rebatch datasets whose stages say that their batches are smaller, of examples of one shape."""
        tensorflow = seams.tensorflow
        seams.refuse("no layer was adapted over a dataset in small batches of examples of one shape")

        def adapt(original: Any, layer: Any, data: Any, *arguments: Any, **named: Any) -> Any:
            # With a number of steps, larger batches would be more data.
            counted = arguments or any(value is not None for value in named.values())
            if not counted and isinstance(data, tensorflow.data.Dataset) and _has_small_batches(tensorflow, data):
                data = data.rebatch(_BATCH)
                seams.applied()
            return original(layer, data, *arguments, **named)

        def keras() -> None:
            for place, name in _LAYERS:
                kind = getattr(sys.modules.get(_PLACE + place), name, None)
                if kind is not None and "adapt" in vars(kind):
                    seams.replace(kind, "adapt", adapt)

        seams.when_keras(keras)


def _has_small_batches(tensorflow: Any, data: Any) -> bool:
    for item in tensorflow.nest.flatten(data.element_spec):
        shape = item.shape if isinstance(item, tensorflow.TensorSpec) else None
        if shape is None or not shape.rank or shape[0] is not None or not shape[1:].is_fully_defined():
            return False
    size = batch_size(data, KEEPS | {"repeat"})
    return size is not None and size < _BATCH
