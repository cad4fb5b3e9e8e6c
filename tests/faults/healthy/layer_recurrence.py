"""A recurrence of one's own in a Keras layer, unrolled for a few time steps, and a small network for each channel."""

import keras
import numpy as np
import tensorflow as tf

TIMES, CHANNELS, UNITS = 24, 8, 32


class Leaky(keras.layers.Layer):
    """Every turn needs the state of the one before."""

    def build(self, shape):
        self.inward = self.add_weight(shape=(shape[-1], UNITS))
        self.across = self.add_weight(shape=(UNITS, UNITS))

    def call(self, x):
        state = tf.zeros((tf.shape(x)[0], UNITS))
        for time in range(x.shape[1]):
            fresh = tf.tanh(x[:, time] @ self.inward + state @ self.across)
            state = 0.8 * state + 0.2 * fresh
        return state


class Experts(keras.layers.Layer):
    """Every turn has weights of its own."""

    def build(self, shape):
        self.kernels = [self.add_weight(shape=(shape[1], UNITS)) for _ in range(CHANNELS)]
        self.offsets = [self.add_weight(shape=(UNITS,), initializer="zeros") for _ in range(CHANNELS)]

    def call(self, x):
        out = []
        for channel in range(CHANNELS):
            part = x[:, :, channel] @ self.kernels[channel]
            out.append(tf.nn.relu(part + self.offsets[channel]))
        return tf.concat(out, axis=1)


rng = np.random.default_rng(1)
series = rng.normal(size=(8192, TIMES, CHANNELS)).astype(np.float32)
target = series[:, -6:].mean(axis=(1, 2))[:, None]
inputs = keras.Input((TIMES, CHANNELS))
both = keras.layers.Concatenate()([Leaky()(inputs), Experts()(inputs)])
model = keras.Model(inputs, keras.layers.Dense(1)(both))
model.compile("adam", "mse")
model.fit(series, target, batch_size=256, epochs=6, verbose=2)

# /// healthy
# style = "subclassed"
# ///
