"""Gradients on their way into Keras' optimizers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Where there is more than one replica."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no optimizer of several replicas was given a gradient that is rows of a table")

    def whole(gradient: Any) -> Any:
        if not isinstance(gradient, tensorflow.IndexedSlices):
            return gradient
        trial.applied()
        return tensorflow.convert_to_tensor(gradient)

    def applying(original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(optimizer: Any, grads: Any, *arguments: Any, **named: Any) -> Any:
            if tensorflow.distribute.get_strategy().num_replicas_in_sync > 1:
                grads = [whole(gradient) for gradient in grads]
            return original(optimizer, grads, *arguments, **named)

        return apply

    with seams() as made:
        place = "keras.src.optimizers.base_optimizer"
        trial.when_keras(lambda: made.replace(attribute(place, "BaseOptimizer"), "apply", applying))
        yield
