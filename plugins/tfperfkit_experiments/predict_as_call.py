"""``predict-as-call``: serves a ``predict`` of a few rows by a compiled call of the model."""

from __future__ import annotations

import weakref
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import BatchSize, CallDirectly, Compile
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

#: The default batch size of ``predict``: more rows would be several batches.
_ROWS = 32


class PredictAsCall(Base):
    """Callbacks and progress bars are left out. Applies to arrays and tensors."""

    name = "predict-as-call"
    keeps = "mathematics"
    remedies = (CallDirectly("predict"), Compile("model"), BatchSize("predict"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Replace ``predict`` of Keras models."""
        tensorflow = seams.tensorflow
        compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

        def predict(original: Any, model: Any, x: Any, *arguments: Any, **named: Any) -> Any:
            if not hasattr(x, "shape") or not x.shape or (x.shape[0] or _ROWS + 1) > _ROWS or arguments:
                return original(model, x, *arguments, **named)
            if model not in compiled:
                reference: Any = weakref.ref(model)
                compiled[model] = tensorflow.function(
                    lambda rows: reference()(rows, training=False), reduce_retracing=True
                )
            seams.applied()
            made = compiled[model](tensorflow.convert_to_tensor(x))
            return tensorflow.nest.map_structure(lambda tensor: tensor.numpy(), made)

        seams.replace_in_models("predict", predict)
