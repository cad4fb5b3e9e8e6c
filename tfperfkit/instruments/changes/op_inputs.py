"""An operation of a graph that is given another input, for which TensorFlow has no public name."""

from __future__ import annotations

from typing import Any


def zero_input(tensorflow: Any, operation: Any) -> None:
    """Zeros of its shape and type in place of the operation's first input: what made that is no longer needed."""
    value = operation.inputs[0]
    with operation.graph.as_default():
        shape = value.shape if value.shape.is_fully_defined() else tensorflow.shape(value)
        operation._update_input(0, tensorflow.zeros(shape, value.dtype))


def is_persistent(tape: Any) -> bool:
    """Whether a ``tf.GradientTape`` may be asked for several gradients."""
    return bool(tape._persistent)
