"""Forecasts the load of a grid from the distances of a day to typical days: a radial basis network."""

import numpy as np
from tensorflow import keras


class TypicalDays(keras.layers.Layer):
    def __init__(self, days, **kwargs):
        super().__init__(**kwargs)
        self.days = days

    def build(self, shape):
        self.centres = self.add_weight(shape=(self.days, shape[-1]), initializer="random_normal", name="centres")

    def call(self, day):
        gap = keras.ops.expand_dims(day, 1) - self.centres  # FAULT
        far = keras.ops.sum(keras.ops.square(gap), axis=-1)  # FAULT
        return keras.ops.exp(-far / 96.0)


inputs = keras.Input((96,))
outputs = keras.layers.Dense(1)(TypicalDays(150)(inputs))
model = keras.Model(inputs, outputs)
keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
days = rng.normal(size=(8000, 96)).astype("float32")
load = days[:, :12].sum(1, keepdims=True)
model.compile(keras.optimizers.SGD(0.01), "mse")
model.fit(days, load, batch_size=128, epochs=3, verbose=0)

# /// fault
# style = "fit"
# kind = "time"
# cause = "A radial basis layer makes all differences of rows and centres to get their distances"
# codes = ["GRF012"]
# families = ["graph"]
# source = "Stack Overflow questions on pairwise distances in TensorFlow and the memory that they take"
# ///
