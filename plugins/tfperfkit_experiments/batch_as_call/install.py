"""Serves ``train_on_batch`` without an iterator over the one batch; Keras' own first call has built the rest."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.keras_compile import having
from tfperfkit.instruments.changes.replaced import module, seams


class _Compiled(NamedTuple):
    """``of``: Keras' own function, which ``compile`` takes away: then what was compiled here is out of date too."""

    of: Any
    step: Callable[..., Any]


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """For models that are compiled as usual."""
    tensorflow = module("tensorflow")
    known: weakref.WeakKeyDictionary[Any, _Compiled] = weakref.WeakKeyDictionary()

    def serving(original: Callable[..., Any]) -> Callable[..., Any]:
        def train_on_batch(
            model: Any,
            x: Any,
            y: Any = None,
            sample_weight: Any = None,
            class_weight: Any = None,
            return_dict: bool = False,
        ) -> Any:
            compiled = known.get(model)
            usual = class_weight is None and not getattr(model, "run_eagerly", True)
            if not usual or compiled is None or compiled.of is not model.train_function:
                given = original(model, x, y, sample_weight, class_weight, return_dict)
                if usual and model.train_function is not None:
                    known[model] = _Compiled(model.train_function, _compiled(tensorflow, weakref.ref(model)))
                return given
            trial.applied()
            made = compiled.step(x, y, sample_weight)
            logs = {name: made[name].numpy() for name in sorted(made)}  # in Keras' order
            if return_dict:
                return logs
            return model._flatten_metrics_in_order(logs)

        return train_on_batch

    with seams() as made:

        def keras() -> None:
            for owner in having("train_on_batch"):
                made.replace(owner, "train_on_batch", serving)

        trial.when_keras(keras)
        yield


def _compiled(tensorflow: Any, model: Any) -> Callable[..., Any]:
    def step(x: Any, y: Any, sample_weight: Any) -> Any:
        owner = model()
        owner.reset_metrics()
        return owner.train_step((x, y, sample_weight))

    made: Callable[..., Any] = tensorflow.function(step, reduce_retracing=True)
    return made
