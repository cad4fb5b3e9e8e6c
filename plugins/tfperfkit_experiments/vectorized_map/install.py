"""Puts ``tf.vectorized_map`` in the place of ``tf.map_fn``, where a function is traced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Eagerly it would be traced anew at each call; with a signature of other types rows may not be alike."""
    tensorflow = module("tensorflow")

    def mapping(original: Callable[..., Any]) -> Callable[..., Any]:
        # AutoGraph takes this for TensorFlow's own: ``replace`` gives it the original's module.
        def map_fn(fn: Any, elems: Any, *arguments: Any, **named: Any) -> Any:
            plain = not arguments and not {"dtype", "fn_output_signature"} & {key for key in named if named[key]}
            if plain and not tensorflow.executing_eagerly():
                try:
                    made = tensorflow.vectorized_map(fn, elems)
                except (ValueError, TypeError, NotImplementedError):
                    return original(fn, elems, *arguments, **named)
                trial.applied()
                return made
            return original(fn, elems, *arguments, **named)

        return map_fn

    with seams() as made:
        made.replace(tensorflow, "map_fn", mapping)
        yield
