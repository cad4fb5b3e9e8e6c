"""Ranks places to visit by their vectors; all vectors go through a small network before some are looked up."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

PLACES, WIDTH = 20000, 32


class Places(keras.layers.Layer):
    def build(self, shape):
        self.table = self.add_weight(shape=(PLACES, WIDTH), initializer="random_normal", name="table")
        self.mix = self.add_weight(shape=(WIDTH, WIDTH), initializer="orthogonal", name="mix")

    def call(self, visited):
        vectors = tf.nn.tanh(tf.matmul(self.table, self.mix))  # FAULT
        vectors = vectors / tf.norm(vectors, axis=1, keepdims=True)  # FAULT
        return tf.gather(vectors, visited)


visited = keras.Input((6,), dtype="int32")
score = keras.layers.Dense(1)(keras.layers.GlobalAveragePooling1D()(Places()(visited)))
model = keras.Model(visited, score)
keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
trips = rng.integers(0, PLACES, size=(16384, 6)).astype("int32")
liked = rng.normal(size=(16384, 1)).astype("float32")
model.compile(keras.optimizers.SGD(0.05), "mse")
model.fit(trips, liked, batch_size=64, epochs=1, verbose=0)

# /// fault
# style = "fit"
# kind = "time"
# cause = "A layer sends its whole table through a network and normalises it before six rows an example are looked up"
# codes = ["GRF014"]
# families = ["graph"]
# source = "GitHub issues on embeddings whose gradient becomes dense because the table is transformed before the lookup"
# ///
