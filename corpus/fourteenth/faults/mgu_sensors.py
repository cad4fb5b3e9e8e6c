"""Minimal gated unit (MGU) written by hand for activity recognition.

I wrote my own cell because I need the gate values later. Everything is inside the
Keras model, fit() compiles it, so I expected about the speed of layers.GRU.
"""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)

SENSORS = 9
SEQ = 240
UNITS = 128
BATCH = 64


class MinimalGatedUnit(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        n_in = input_shape[-1]
        init = keras.initializers.GlorotUniform(seed=1)
        ortho = keras.initializers.Orthogonal(seed=2)
        self.w = self.add_weight(shape=(n_in, 2 * self.units), initializer=init, name="w")
        self.b = self.add_weight(shape=(2 * self.units,), initializer="zeros", name="b")
        self.uf = self.add_weight(shape=(self.units, self.units), initializer=ortho, name="uf")
        self.uh = self.add_weight(shape=(self.units, self.units), initializer=ortho, name="uh")

    @tf.function
    def recur(self, proj, h):
        steps = proj.shape[1]
        gates = tf.TensorArray(tf.float32, size=steps)
        for t in tf.range(steps):
            p = proj[:, t, :]
            f = tf.sigmoid(p[:, :self.units] + tf.matmul(h, self.uf))
            cand = tf.tanh(p[:, self.units:] + tf.matmul(f * h, self.uh))
            h = (1.0 - f) * h + f * cand
            gates = gates.write(t, tf.reduce_mean(f, axis=-1))
        return h, tf.transpose(gates.stack())

    def call(self, x):
        # input part for all the time steps in one product
        proj = tf.tensordot(x, tf.convert_to_tensor(self.w), 1) + self.b
        return self.recur(proj, tf.zeros((tf.shape(x)[0], self.units)))


def synthetic_imu(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, n)
    t = np.linspace(0, 8, SEQ, dtype=np.float32)
    freq = 0.6 + 0.35 * y[:, None, None]
    phase = rng.uniform(0, 6.28, (n, 1, SENSORS))
    amp = rng.uniform(0.4, 1.2, (n, 1, SENSORS))
    x = amp * np.sin(6.28 * freq * t[None, :, None] / 4 + phase)
    x += 0.3 * rng.standard_normal(x.shape)
    return x.astype(np.float32), y.astype(np.int32)


def build():
    inp = keras.Input((SEQ, SENSORS))
    x = layers.Dense(48, activation="relu")(inp)
    h, gates = MinimalGatedUnit(UNITS, name="mgu")(x)
    out = layers.Dense(6)(layers.Dropout(0.1, seed=6)(h))
    model = keras.Model(inp, out)
    probe = keras.Model(inp, gates)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"])
    return model, probe


if __name__ == "__main__":
    x_train, y_train = synthetic_imu(BATCH * 12, 0)
    x_test, y_test = synthetic_imu(BATCH, 1)
    model, probe = build()
    model.fit(x_train, y_train, batch_size=BATCH, epochs=1, verbose=2)
    print("test:", model.evaluate(x_test, y_test, batch_size=BATCH, verbose=0))
    g = probe.predict(x_test[:BATCH], batch_size=BATCH, verbose=0)
    print("mean gate, first/last step: %.3f %.3f" % (g[:, 0].mean(), g[:, -1].mean()))
