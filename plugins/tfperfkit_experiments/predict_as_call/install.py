"""Serves small calls of ``predict``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import module, seams

#: More rows are several batches of ``predict``.
_ROWS = 32


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """For arrays and tensors."""
    tensorflow = module("tensorflow")
    compiled: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def serving(original: Callable[..., Any]) -> Callable[..., Any]:
        def predict(model: Any, x: Any, *arguments: Any, **named: Any) -> Any:
            if not hasattr(x, "shape") or not x.shape or (x.shape[0] or _ROWS + 1) > _ROWS or arguments:
                return original(model, x, *arguments, **named)
            if model not in compiled:
                reference: Any = weakref.ref(model)
                compiled[model] = tensorflow.function(
                    lambda rows: reference()(rows, training=False), reduce_retracing=True
                )
            trial.applied()
            made = compiled[model](tensorflow.convert_to_tensor(x))
            return tensorflow.nest.map_structure(lambda tensor: tensor.numpy(), made)

        return predict

    with seams() as made:

        def keras() -> None:
            for owner in having("predict"):
                made.replace(owner, "predict", serving)

        trial.when_keras(keras)
        yield
