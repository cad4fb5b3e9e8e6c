"""Keras' own calls: ``predict``, ``fit`` and the model itself for little data; weights through NumPy."""

from __future__ import annotations

from collections.abc import Callable

import keras
import numpy as np
import tensorflow as tf

from benchmarks.costs import measure
from benchmarks.costs.timing import ms

Round = Callable[[], list[float]]


def network(width: int, layers: int = 2, outputs: int = 4) -> keras.Model:
    inner = [keras.layers.Dense(width, activation="relu") for _ in range(layers - 1)]
    return keras.Sequential([keras.Input((8,)), *inner, keras.layers.Dense(outputs)])


@measure("share", "of predict for one state, what calling the model leaves: compiled, and operation by operation")
def predict() -> Round:
    models = [network(32), network(512, 4)]
    compiled = [tf.function(model) for model in models]
    state = np.zeros((1, 8), "float32")
    tensor = tf.constant(state)

    def points() -> list[float]:
        found = []
        for model, call in zip(models, compiled, strict=True):
            whole = ms(lambda model=model: model.predict(state, verbose=0))
            found += [ms(lambda call=call: call(tensor)) / whole, ms(lambda model=model: model(tensor)) / whole]
        return found

    return points


@measure("share", "of calling a model operation by operation, what a compiled call leaves")
def model_call() -> Round:
    convolutional = keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(4),
        ]
    )
    cases = [(network(32), tf.zeros((1, 8))), (network(256, 4), tf.zeros((32, 8)))]
    cases.append((convolutional, tf.zeros((4, 16, 16, 3))))
    compiled = [tf.function(model) for model, _ in cases]
    return lambda: [
        ms(lambda call=call, x=x: call(x)) / ms(lambda model=model, x=x: model(x))
        for (model, x), call in zip(cases, compiled, strict=True)
    ]


@measure("share", "of a fit of one batch and of four, what train_on_batch leaves")
def fit() -> Round:
    model = network(32)
    model.compile("adam", "mse")
    x, y = np.zeros((128, 8), "float32"), np.zeros((128, 4), "float32")

    def points() -> list[float]:
        each = ms(lambda: model.train_on_batch(x[:32], y[:32]))
        return [
            batches * each / ms(lambda n=32 * batches: model.fit(x[:n], y[:n], batch_size=32, verbose=0))
            for batches in (1, 4)
        ]

    return points


@measure("share", "of soft updates through get_weights and set_weights, what assigning in a compiled function leaves")
def weights() -> Round:
    def pair(width: int, layers: int) -> tuple[keras.Model, keras.Model]:
        return network(width, layers), network(width, layers)

    pairs = [pair(64, 2), pair(256, 3), pair(512, 3)]

    def through_numpy(model: keras.Model, target: keras.Model) -> None:
        both = zip(model.get_weights(), target.get_weights(), strict=True)
        target.set_weights([0.01 * a + 0.99 * b for a, b in both])

    def assigning(model: keras.Model, target: keras.Model) -> Callable[[], None]:
        @tf.function
        def update() -> None:
            for a, b in zip(target.trainable_variables, model.trainable_variables, strict=True):
                a.assign(0.99 * a + 0.01 * b)

        return update

    updates = [assigning(*both) for both in pairs]
    return lambda: [
        ms(update) / ms(lambda both=both: through_numpy(*both)) for both, update in zip(pairs, updates, strict=True)
    ]
