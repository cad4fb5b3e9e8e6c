"""Gradients of one tape for the same variables, of which the last stands for all.

Nobody knows at a call whether another follows. So each call gives the gradient of all losses so far, and makes zeros of
what the calls before it gave; what computed these is then no longer needed, and TensorFlow leaves it out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.op_inputs import is_persistent, zero_input
from tfperfkit.instruments.changes.replaced import attribute, called_from, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """In compiled functions: what has been computed already can't be left out."""
    tensorflow: Any = module("tensorflow")
    #: Of each tape, by its sources: these, the losses, and what the last call gave.
    asked: weakref.WeakKeyDictionary[Any, dict[Any, tuple[Any, list[Any], list[Any]]]] = weakref.WeakKeyDictionary()
    trial.refuse("no persistent tape was asked for several gradients of the same variables in a compiled function")

    def asking(original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(tape: Any, target: Any, sources: Any, *arguments: Any, **named: Any) -> Any:
            flat = tensorflow.nest.flatten(sources)
            fixed = all(getattr(source, "shape", None) is not None and all(source.shape) for source in flat)
            if (
                arguments
                or named
                or not fixed
                or not is_persistent(tape)
                or tensorflow.executing_eagerly()
                or not called_from(trial.is_user_code)
            ):
                return original(tape, target, sources, *arguments, **named)
            key = id(tensorflow.compat.v1.get_default_graph()), *map(id, flat)
            _, losses, before = asked.setdefault(tape, {}).get(key, (flat, [], []))
            losses = [*losses, *tensorflow.nest.flatten(target)]
            found = [_through(tensorflow, item) for item in original(tape, losses, flat)]
            if before:
                for item in before:
                    _make_zero(tensorflow, item)
                trial.applied()
            asked[tape][key] = flat, losses, found
            return tensorflow.nest.pack_sequence_as(sources, found)

        return gradient

    with seams() as made:
        made.replace(attribute("tensorflow.python.eager.backprop", "GradientTape"), "gradient", asking)
        yield


def _through(tensorflow: Any, gradient: Any) -> Any:
    """A gradient behind an operation whose input can be another."""
    if isinstance(gradient, tensorflow.IndexedSlices):
        values = tensorflow.identity(gradient.values)
        return tensorflow.IndexedSlices(values, gradient.indices, gradient.dense_shape)
    return None if gradient is None else tensorflow.identity(gradient)


def _make_zero(tensorflow: Any, gradient: Any) -> None:
    if gradient is None:
        return
    tensor = gradient.values if isinstance(gradient, tensorflow.IndexedSlices) else gradient
    zero_input(tensorflow, tensor.op)
