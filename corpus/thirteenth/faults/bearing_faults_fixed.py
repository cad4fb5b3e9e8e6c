"""Bearing fault classification from vibration envelopes.

The front end is a bank of one-pole smoothers  y[t] = a*y[t-1] + (1-a)*|x[t]|
with trainable a (one per channel), then a little conv net.
"""
import numpy as np
import keras
import tensorflow as tf
from keras import layers

T, CHANNELS, CLASSES = 800, 8, 4


class EnvelopeBank(layers.Layer):
    def __init__(self, taus=(2., 4., 8., 16., 32., 64., 128., 200.), **kw):
        super().__init__(**kw)
        self.taus = taus

    def build(self, shape):
        a = np.exp(-1.0 / np.array(self.taus))
        self.raw = self.add_weight(
            name="raw", shape=(len(self.taus),), trainable=True,
            initializer=lambda s, dtype=None: tf.constant(np.log(a / (1 - a)), tf.float32))

    def call(self, x):
        a = tf.sigmoid(self.raw)
        drive = tf.abs(x) * (1.0 - a)
        y, power, shift = drive, a, 1
        while shift < T:
            y += power * tf.pad(y, [[0, 0], [shift, 0], [0, 0]])[:, :T]
            power, shift = power * power, 2 * shift
        return y

    def compute_output_shape(self, s):
        return s


def machine_data(n, seed):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    t = np.arange(T)
    x = 0.5 * rng.normal(size=(n, T, CHANNELS))
    for i, c in enumerate(label):
        if c:
            period = (0, 37, 53, 91)[c]
            hits = ((t + rng.integers(period)) % period) < 4
            x[i] += hits[:, None] * rng.normal(1.2, 0.3, CHANNELS)
    return x.astype("float32"), label.astype("int32")


def make_model():
    inp = keras.Input((T, CHANNELS))
    env = EnvelopeBank()(inp)
    z = layers.Conv1D(16, 9, strides=4, activation="relu")(env)
    z = layers.Conv1D(32, 9, strides=4, activation="relu")(z)
    z = layers.GlobalMaxPooling1D()(z)
    return keras.Model(inp, layers.Dense(CLASSES)(z))


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    x, y = machine_data(1280, 0)
    xv, yv = machine_data(256, 1)
    m = make_model()
    m.compile(keras.optimizers.Adam(2e-3),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
    m.fit(x, y, batch_size=32, epochs=4, validation_data=(xv, yv), verbose=2)
    a = tf.sigmoid(m.layers[1].raw).numpy()
    print("time constants now:", np.round(-1 / np.log(a), 2))
