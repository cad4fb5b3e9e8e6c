"""TimeDistributed in the graphs that Keras and TensorFlow make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from late_tensorflow import needs_tensorflow, tf
from tfperfkit_probes.ops.copied_layers import copied_layers
from tfperfkit_probes.ops.model import CopiedLayer

from tfperfkit.graph.model import Graph
from tfperfkit.instruments.graphs.reading import read_finished

pytestmark = needs_tensorflow

STEPS = 12


def layers_of(make: Callable[[Any], Any], steps: int | None = STEPS) -> list[CopiedLayer]:
    """Return the copied layers of a model of one layer, in a step that trains the model."""
    model = tf.keras.Sequential([tf.keras.Input((steps, 4)), make(tf.keras.layers)])

    @tf.function(autograph=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        return tape.gradient(loss, model.trainable_variables)

    concrete = step.get_concrete_function(tf.TensorSpec([None, steps, 4], tf.float32))
    graphs: dict[str, Graph] = {}
    records = read_finished(concrete.graph, "step", lambda file: True)
    graphs.update({each.name: Graph(each, graphs.get) for each in records})
    return copied_layers(list(graphs.values()))


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.TimeDistributed(layers.Dense(3)),
        lambda layers: layers.TimeDistributed(layers.LayerNormalization()),
        lambda layers: layers.TimeDistributed(tf.keras.Sequential([layers.Dense(8, "relu"), layers.Dense(3)])),
    ],
)
def test_a_layer_stands_in_the_graph_once_for_each_time_step(make: Callable[[Any], Any]) -> None:
    (found,) = layers_of(make)
    assert found.copies == STEPS and found.operations > 4 * STEPS


@pytest.mark.parametrize(
    ("make", "steps"),
    [
        (lambda layers: layers.Dense(3), STEPS),
        (lambda layers: layers.SimpleRNN(3, return_sequences=True, unroll=True), STEPS),
        (lambda layers: layers.TimeDistributed(layers.Dense(3)), None),
    ],
)
def test_other_layers_stand_there_once(make: Callable[[Any], Any], steps: int | None) -> None:
    assert layers_of(make, steps) == []
