"""``update-rows``: lets Keras' Adam update only the rows of an embedding that the batch uses (lazy Adam)."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import ReplaceOps
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams


class UpdateRows(Base):
    """Rows that no batch uses keep their moments, so training differs a little."""

    name = "update-rows"
    keeps = "nothing"
    remedies = (ReplaceOps("looked_up_rows"),)

    def apply(self, seams: Seams, change: Change) -> None:
        """Change ``Adam.update_step`` for gradients that are rows; not with ``amsgrad``, whose maximum is over all
        steps."""
        tensorflow = seams.tensorflow

        def update_step(original: Any, optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> Any:
            if optimizer.amsgrad or not isinstance(gradient, tensorflow.IndexedSlices):
                return original(optimizer, gradient, variable, learning_rate)
            seams.applied()
            return _update_rows(tensorflow, optimizer, gradient, variable, learning_rate)

        seams.replace_in_keras("keras.src.optimizers.adam:Adam", "update_step", update_step)


def _update_rows(tf: Any, optimizer: Any, gradient: Any, variable: Any, learning_rate: Any) -> None:
    """Gather the rows, update them as Adam does, and scatter them back."""
    kind = variable.dtype
    index = optimizer._get_variable_index(variable)
    momentum, velocity = (_tf_variable(each[index]) for each in (optimizer._momentums, optimizer._velocities))
    rows, places = tf.unique(gradient.indices)
    values = tf.cast(gradient.values, kind)
    # If a row is there twice, Keras adds up its gradients, and their squares, each by itself.
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
    _tf_variable(variable).scatter_sub(tf.IndexedSlices(change, rows))


def _tf_variable(variable: Any) -> Any:
    """TensorFlow's variable inside one of Keras'."""
    return variable if hasattr(variable, "scatter_sub") else variable.value
