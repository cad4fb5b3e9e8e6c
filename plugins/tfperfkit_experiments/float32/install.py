"""Leaves ``set_floatx`` and dtype policies without effect, and NumPy's default as well."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import seams
from tfperfkit_experiments.float32.arrays import halve

_NAMES = ("set_floatx", "set_dtype_policy", "set_global_policy", "set_global_dtype_policy")
_PLACES = ("keras.config", "keras.backend", "keras.mixed_precision", "keras._tf_keras.keras.config")
_PLACES_TF = ("keras._tf_keras.keras.backend", "keras._tf_keras.keras.mixed_precision")


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In the public modules' names."""
    trial.refuse("neither Keras' settings nor NumPy's default bring other precisions in: the script names its types")

    def ignored(original: Callable[..., Any]) -> Callable[..., Any]:
        def set_type(*arguments: Any, **named: Any) -> None:
            trial.applied()

        return set_type

    def keras() -> None:
        for place in (*_PLACES, *_PLACES_TF):
            for name in _NAMES:
                if hasattr(sys.modules.get(place), name):
                    try:
                        made.replace(sys.modules[place], name, ignored)
                    except Unavailable:
                        continue

    with seams() as made:
        halve(made, trial)
        trial.when_keras(keras)
        yield
