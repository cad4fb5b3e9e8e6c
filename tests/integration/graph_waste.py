"""Wasted work in a function that TensorFlow traces; for the tests."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graph_causes import causes_in, code_of
from late_tensorflow import tf
from tfperfkit_rules.graph.cause import Cause

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished

Makes = Callable[..., Any]


def found(function: Makes, *shapes: Any, batch: int | None = None) -> list[Any]:
    """Return the wasted work in a function of tensors of these shapes (``"i8000"``: integers), and in its gradient."""
    specs = [
        tf.TensorSpec([int(shape[1:])], tf.int32)
        if isinstance(shape, str)
        else shape
        if isinstance(shape, tf.TensorSpec)
        else tf.TensorSpec(shape, tf.float32)
        for shape in shapes
    ]

    for width in (16, 5000):
        dense(width, use_bias=False)
        dense(width, activation="relu")

    @tf.function(autograph=False)
    def step(*tensors: Any) -> Any:
        floats = [each for each in tensors if each.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            result = function(*tensors)
        return result, tape.gradient(result, floats)

    # Work for one result alone is a fact of any function with several: a rule asks who reads them.
    every = waste_of(step.get_concrete_function(*specs), batch)
    return [each for each in every if kind_of(each) != "GRF031"]


def waste_of(concrete: Any, batch: int | None = None) -> list[Any]:
    """Return the wasted work in a function that was traced."""
    records = read_finished(concrete.graph, "step", lambda file: True)
    graphs: dict[str, Graph] = {}
    graphs.update({each.name: Graph(each, graphs.get) for each in records})
    return [*causes_in(graphs["step"], batch)]


def kinds(function: Makes, *shapes: Any, batch: int | None = None) -> set[str]:
    return {kind_of(each) for each in found(function, *shapes, batch=batch)}


def kind_of(each: Cause) -> str:
    """The code of a cause."""
    return code_of(each)


@functools.cache
def dense(width: int, **options: Any) -> Any:
    """Make a layer whose variables are made before the function is traced."""
    layer = tf.keras.layers.Dense(8, **options)
    layer.build((None, width))
    return layer
