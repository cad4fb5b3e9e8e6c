"""NumPy's arrays and numbers of 64 bits that become tensors, without a type that the script names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import Seams, attribute, module

_FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function"


def halve(made: Seams, trial: Trial) -> None:
    """Where TensorFlow makes a constant (``tf.constant``, ``tf.Variable``, ``from_tensor_slices`` and all that takes
    tensors come there), eagerly or in a graph; and where a compiled function is called with them."""

    def eager(original: Callable[..., Any]) -> Callable[..., Any]:
        def convert_to_eager_tensor(value: Any, ctx: Any, dtype: Any = None) -> Any:
            return original(halved(trial, value) if dtype is None else value, ctx, dtype)

        return convert_to_eager_tensor

    def in_graph(original: Callable[..., Any]) -> Callable[..., Any]:
        def _create_graph_constant(value: Any, dtype: Any, *arguments: Any, **named: Any) -> Any:
            return original(halved(trial, value) if dtype is None else value, dtype, *arguments, **named)

        return _create_graph_constant

    def elements(original: Callable[..., Any]) -> Callable[..., Any]:
        structure = module("tensorflow.python.data.util.nest").map_structure

        def normalize_element(element: Any, element_signature: Any = None) -> Any:
            if element_signature is None:
                element = structure(lambda value: halved(trial, value), element)
            return original(element, element_signature)

        return normalize_element

    def calling(original: Callable[..., Any]) -> Callable[..., Any]:
        def __call__(function: Any, *arguments: Any, **named: Any) -> Any:
            arguments = tuple(halved(trial, value) for value in arguments)
            return original(function, *arguments, **{name: halved(trial, value) for name, value in named.items()})

        return __call__

    made.replace(module("tensorflow.python.framework.constant_op"), "convert_to_eager_tensor", eager)
    made.replace(module("tensorflow.python.framework.ops"), "_create_graph_constant", in_graph)
    made.replace(module("tensorflow.python.data.util.structure"), "normalize_element", elements)
    made.replace(attribute(_FUNCTION, "Function"), "__call__", calling)


def halved(trial: Trial, value: Any) -> Any:
    """In 32 bits what is an array or a number of NumPy's in 64, or a list of such; all else as it is."""
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (np.ndarray, np.float64)) or first.dtype != np.float64:
        return value
    trial.applied()
    return np.asarray(value, np.float32) if first is not value else value.astype(np.float32)
