"""Scores offers by a soft mixture of experts; rows are looked up first, repeated last, a matrix changes each step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

OFFERS, WIDTH, EXPERTS, BATCH, SAMPLES = 5000, 32, 4, 128, 8


class Mixture(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.experts = [keras.layers.Dense(WIDTH, activation="relu") for _ in range(EXPERTS)]
        self.gate = keras.layers.Dense(EXPERTS, activation="softmax")

    def build(self, shape):
        for layer in (*self.experts, self.gate):
            layer.build(shape)

    def call(self, x):
        every = tf.stack([expert(x) for expert in self.experts], axis=1)
        return tf.reduce_sum(every * self.gate(x)[:, :, None], axis=1)


class Scorer(keras.Model):
    def __init__(self):
        super().__init__()
        self.table = self.add_weight(shape=(OFFERS, WIDTH), initializer="random_normal", name="table")
        self.shape = self.add_weight(shape=(WIDTH, WIDTH), initializer="identity", name="shape")
        self.mixture, self.head = Mixture(), keras.layers.Dense(1)

    def call(self, offers, training=False):
        rows = tf.math.l2_normalize(tf.gather(self.table, offers), axis=1)
        mixed = self.mixture(rows)
        system = tf.matmul(self.shape, self.shape, transpose_a=True) + tf.eye(WIDTH)
        mixed = tf.transpose(tf.linalg.solve(system, tf.transpose(mixed)))
        samples = tf.repeat(mixed, SAMPLES, axis=0)
        samples += 0.1 * tf.random.normal(tf.shape(samples))
        scores = tf.reshape(self.head(samples), [-1, SAMPLES])
        return tf.reduce_mean(scores, axis=1, keepdims=True)


keras.utils.set_random_seed(16)
rng = np.random.default_rng(16)
offers = rng.integers(0, OFFERS, 60_000).astype("int32")
clicked = rng.normal(size=(60_000, 1)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((offers, clicked)).cache().shuffle(10_000).batch(BATCH, drop_remainder=True)
model = Scorer()
model.compile(keras.optimizers.SGD(0.01), "mse")
model.fit(data.prefetch(2), epochs=2, verbose=0)

# /// healthy
# style = "subclassed"
# ///
