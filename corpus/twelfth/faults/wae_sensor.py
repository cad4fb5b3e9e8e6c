"""Wasserstein auto-encoder (MMD penalty) on vibration spectra.

Question: GPU or not, `fit` runs at ~3 steps/s although encoder and decoder are
two Dense layers each. Anything obviously wrong with my setup?
"""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECTRUM = 256
LATENT = 64
BATCH = 512


def make_spectra(n, seed=0):
    rng = np.random.default_rng(seed)
    f = np.linspace(0, 1, SPECTRUM)[None]
    out = np.zeros((n, SPECTRUM))
    for _ in range(4):
        centre, width = rng.random((n, 1)), 0.01 + 0.05 * rng.random((n, 1))
        out += rng.random((n, 1)) * np.exp(-((f - centre) / width) ** 2)
    return (out + 0.01 * rng.normal(size=out.shape)).astype("float32")


def squared_distances(a, b):
    diff = a[:, None, :] - b[None, :, :]
    return tf.reduce_sum(tf.square(diff), axis=-1)


def imq_kernel(a, b):
    d = squared_distances(a, b)
    k = 0.0
    for scale in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0):
        c = 2.0 * LATENT * scale
        k += c / (c + d)
    return k


def mmd(z, prior):
    n = tf.cast(tf.shape(z)[0], tf.float32)
    kzz, kpp, kzp = imq_kernel(z, z), imq_kernel(prior, prior), imq_kernel(z, prior)
    off = n * (n - 1.0)
    same = (tf.reduce_sum(kzz) - tf.linalg.trace(kzz)) / off
    same += (tf.reduce_sum(kpp) - tf.linalg.trace(kpp)) / off
    return same - 2.0 * tf.reduce_mean(kzp)


class WAE(keras.Model):
    def __init__(self, weight=10.0):
        super().__init__()
        self.encoder = keras.Sequential(
            [layers.Dense(256, "relu"), layers.Dense(LATENT)], name="encoder")
        self.decoder = keras.Sequential(
            [layers.Dense(256, "relu"), layers.Dense(SPECTRUM)], name="decoder")
        self.weight = weight
        self.rec = keras.metrics.Mean(name="rec")
        self.reg = keras.metrics.Mean(name="mmd")

    @property
    def metrics(self):
        return [self.rec, self.reg]

    def call(self, x):
        return self.decoder(self.encoder(x))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            z = self.encoder(x, training=True)
            y = self.decoder(z, training=True)
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - y), axis=1))
            prior = tf.random.stateless_normal(tf.shape(z), seed=[1, 2])
            reg = mmd(z, prior)
            loss = rec + self.weight * reg
        g = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(g, self.trainable_variables))
        self.rec.update_state(rec)
        self.reg.update_state(reg)
        return {m.name: m.result() for m in self.metrics}


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}", {k: round(float(v), 4) for k, v in logs.items()}, flush=True)


if __name__ == "__main__":
    keras.utils.set_random_seed(5)
    x = make_spectra(BATCH * 12)
    model = WAE()
    model.build((None, SPECTRUM))
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(x, batch_size=BATCH, epochs=5, verbose=0, callbacks=[Report()])
    print("reconstruction of first row:", float(np.mean((model.predict(x[:4], verbose=0) - x[:4]) ** 2)))
