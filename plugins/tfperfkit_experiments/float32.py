"""``float32``: ignores the script's ``floatx`` and policies of 16 bits, and makes NumPy's float64 float32 where it
becomes a tensor."""

from __future__ import annotations

import sys
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.experiment import Change
from tfperfkit.remedy import Setting
from tfperfkit_experiments.base import Base
from tfperfkit_experiments.seams import Seams

_SETTERS = ("set_floatx", "set_dtype_policy", "set_global_policy", "set_global_dtype_policy")
_PLACES = (
    "keras.config",
    "keras.backend",
    "keras.mixed_precision",
    "keras._tf_keras.keras.config",
    "keras._tf_keras.keras.backend",
    "keras._tf_keras.keras.mixed_precision",
)
_FUNCTION = "tensorflow.python.eager.polymorphic_function.polymorphic_function:Function"


class Float32(Base):
    """Results differ as the precision does. A type that the script names is kept."""

    name = "float32"
    keeps = "nothing"
    remedies = (Setting("precision", "float32"), Setting("precision", "float16 on GPUs"))

    def apply(self, seams: Seams, change: Change) -> None:
        """Replace the setters in the public modules, and what makes tensors of arrays."""
        seams.refuse(
            "neither Keras' settings nor NumPy's default bring other precisions in: the script names its types"
        )

        def ignore(original: Any, /, *arguments: Any, **named: Any) -> None:
            seams.applied()

        def keras() -> None:
            for place in _PLACES:
                for name in _SETTERS:
                    if hasattr(sys.modules.get(place), name):
                        try:
                            seams.replace(place, name, ignore)
                        except Unavailable:
                            continue

        _halve_arrays(seams)
        seams.when_keras(keras)


def _halve_arrays(seams: Seams) -> None:
    """Change what makes a constant, eagerly or in a graph (``tf.constant``, ``tf.Variable``, ``from_tensor_slices`` and
    all that takes tensors use it), and what a compiled function is called with."""

    def eager(original: Any, value: Any, ctx: Any, dtype: Any = None) -> Any:
        return original(_halved(seams, value) if dtype is None else value, ctx, dtype)

    def in_graph(original: Any, value: Any, dtype: Any, *arguments: Any, **named: Any) -> Any:
        return original(_halved(seams, value) if dtype is None else value, dtype, *arguments, **named)

    def element(original: Any, element: Any, element_signature: Any = None) -> Any:
        if element_signature is None:
            structure = seams.find("tensorflow.python.data.util.nest").map_structure
            element = structure(lambda value: _halved(seams, value), element)
        return original(element, element_signature)

    def call(original: Any, function: Any, /, *arguments: Any, **named: Any) -> Any:
        arguments = tuple(_halved(seams, value) for value in arguments)
        return original(function, *arguments, **{name: _halved(seams, value) for name, value in named.items()})

    seams.replace("tensorflow.python.framework.constant_op", "convert_to_eager_tensor", eager)
    seams.replace("tensorflow.python.framework.ops", "_create_graph_constant", in_graph)
    seams.replace("tensorflow.python.data.util.structure", "normalize_element", element)
    seams.replace(_FUNCTION, "__call__", call)


def _halved(seams: Seams, value: Any) -> Any:
    """NumPy's arrays and numbers of 64 bits, and lists of such, in 32 bits; anything else as it is."""
    import numpy as np

    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if not isinstance(first, (np.ndarray, np.float64)) or first.dtype != np.float64:
        return value
    seams.applied()
    return np.asarray(value, np.float32) if first is not value else value.astype(np.float32)
