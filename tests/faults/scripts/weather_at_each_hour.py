"""Hourly demand of rental bikes: a long description of the station's day is given to each of its hours."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

HOURS, DAY, OWN, UNITS, BATCH = 96, 512, 16, 64, 64


class Demand(keras.Model):
    def __init__(self):
        super().__init__()
        self.day = keras.layers.Dense(DAY, activation="relu")
        self.hour = keras.layers.Dense(UNITS)
        self.out = keras.layers.Dense(1)

    def call(self, inputs):
        day, hours = inputs
        whole = tf.repeat(self.day(day)[:, None, :], HOURS, axis=1)
        both = tf.concat([whole, hours], axis=-1)  # FAULT
        return self.out(tf.nn.relu(self.hour(both)))[..., 0]  # FAULT


keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
days = rng.normal(size=(BATCH * 30, 40)).astype("float32")
hours = rng.normal(size=(BATCH * 30, HOURS, OWN)).astype("float32")
rented = np.tanh(days[:, :1] + hours[:, :, 0]) + 0.1 * rng.normal(size=(BATCH * 30, HOURS)).astype("float32")

model = Demand()
model.compile(keras.optimizers.Adam(1e-3), "mse")
history = model.fit((days, hours), rented.astype("float32"), batch_size=BATCH, epochs=3, shuffle=False, verbose=2)
print(f"loss {history.history['loss'][-1]:.3f}")

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A vector of each example is repeated for all time steps, concatenated with theirs, and then projected"
# codes = ["GRF015"]
# families = ["graph"]
# source = "Keras questions on RepeatVector with Concatenate and Dense; TensorFlow GNN's commit that projects node and edge inputs separately"
# ///
