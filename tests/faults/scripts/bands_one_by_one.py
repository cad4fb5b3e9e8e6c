"""Classify spectra: each band by the same small network, in a layer of one's own."""

import keras
import numpy as np
import tensorflow as tf

BANDS, WIDTH, UNITS = 40, 12, 48


class BandScores(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.inward = self.add_weight(shape=(shape[-1], self.units))
        self.offset = self.add_weight(shape=(self.units,), initializer="zeros")
        self.outward = self.add_weight(shape=(self.units,))

    def call(self, bands):
        scores = []
        for band in range(bands.shape[1]):  # FAULT
            hidden = tf.nn.relu(tf.matmul(bands[:, band], self.inward) + self.offset)
            scores.append(tf.reduce_sum(hidden * self.outward, axis=-1))
        return tf.stack(scores, axis=1)


rng = np.random.default_rng(0)
spectra = rng.normal(size=(8192, BANDS, WIDTH)).astype(np.float32)
labels = spectra.mean(axis=2).argmax(axis=1) % 4
model = keras.Sequential([BandScores(UNITS), keras.layers.Dense(4)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(spectra, labels, batch_size=64, epochs=10, verbose=2)

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A layer's call loops over an axis in Python, so the graph holds the same small network forty times"
# codes = ["GRF008", "OPS001"]
# families = ["graph"]
# source = "Stack Overflow questions on looping over an axis in a custom Keras layer; tensorflow.org guide 'Better performance with tf.function', looping"
# ///
