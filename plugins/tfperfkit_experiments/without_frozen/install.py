"""Layers without anything to train, as they are called in a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """What the layer computes is left in the graph, where nothing asks for it any more, so it is not run."""
    tensorflow: Any = module("tensorflow")
    trial.refuse("no layer with weights, none of them trained, was called in a compiled function")

    def instead(given: Any, result: Any) -> Any:
        sizes = result.shape.as_list()[1:] if result.shape.rank else [None]
        if None in sizes:
            trial.refuse("the sizes of what a frozen layer gives are not known")
            return result
        trial.applied()
        return tensorflow.zeros([tensorflow.shape(given)[0], *sizes], result.dtype)

    def calling(original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(layer: Any, *arguments: Any, **named: Any) -> Any:
            result = original(layer, *arguments, **named)
            given: Any = arguments[0] if arguments else None
            if tensorflow.executing_eagerly() or not tensorflow.is_tensor(given) or not given.shape.rank:
                return result
            if not layer.weights or layer.trainable_weights:
                return result
            return tensorflow.nest.map_structure(lambda part: instead(given, part), result)

        return __call__

    with seams() as made:
        trial.when_keras(lambda: made.replace(attribute("keras.src.layers.layer", "Layer"), "__call__", calling))
        yield
