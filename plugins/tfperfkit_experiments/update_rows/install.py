"""Keras' ``Adam.update_step`` for gradients that are rows: gathered, updated as Adam does it, and scattered back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams


@contextmanager
def install(trial: Trial) -> Iterator[None]:
    """Not with ``amsgrad``, whose maximum is over all steps."""
    tensorflow = module("tensorflow")

    def updating(original: Callable[..., Any]) -> Callable[..., Any]:
        def update_step(optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> Any:
            if optimizer.amsgrad or not isinstance(gradient, tensorflow.IndexedSlices):
                return original(optimizer, gradient, variable, learning_rate)
            trial.applied()
            return _update(tensorflow, optimizer, gradient, variable, learning_rate)

        return update_step

    with seams() as made:
        trial.when_keras(lambda: made.replace(attribute("keras.src.optimizers.adam", "Adam"), "update_step", updating))
        yield


def _update(tf: Any, optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    kind = variable.dtype
    index = optimizer._get_variable_index(variable)
    momentum, velocity = (_plain(each[index]) for each in (optimizer._momentums, optimizer._velocities))
    rows, places = tf.unique(gradient.indices)
    values = tf.cast(gradient.values, kind)
    # A row that is there twice: Keras adds up its gradients, and their squares, each by itself.
    given, squares = (tf.math.unsorted_segment_sum(each, places, tf.size(rows)) for each in (values, values * values))
    step = tf.cast(tf.convert_to_tensor(optimizer.iterations) + 1, kind)
    beta_1, beta_2 = tf.cast(optimizer.beta_1, kind), tf.cast(optimizer.beta_2, kind)
    rate = tf.cast(learning_rate, kind) * tf.sqrt(1 - beta_2**step) / (1 - beta_1**step)
    first, second = tf.gather(momentum, rows), tf.gather(velocity, rows)
    first += (given - first) * (1 - beta_1)
    second += (squares - second) * (1 - beta_2)
    momentum.scatter_update(tf.IndexedSlices(first, rows))
    velocity.scatter_update(tf.IndexedSlices(second, rows))
    change = first * rate / (tf.sqrt(second) + tf.cast(optimizer.epsilon, kind))
    _plain(variable).scatter_sub(tf.IndexedSlices(change, rows))


def _plain(variable: Any) -> Any:
    """TensorFlow's variable of one of Keras'."""
    return variable if hasattr(variable, "scatter_sub") else variable.value
