"""Variational autoencoder for turbine vibration spectra, trained with fit()."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

BINS, LATENT = 1024, 16


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    f = np.arange(BINS, dtype="float32")
    out = np.abs(rng.normal(0, 0.05, (n, BINS))).astype("float32")
    for _ in range(6):
        centre = rng.uniform(20, BINS - 20, (n, 1)).astype("float32")
        height = rng.uniform(0.2, 1.0, (n, 1)).astype("float32")
        out += height * np.exp(-((f - centre) / 6.0) ** 2)
    return np.minimum(out, 1.5)


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed = keras.random.SeedGenerator(3)

    def call(self, mean, logvar):
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        self.add_loss(kl / BINS)
        return mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.seed)


def build():
    x = keras.Input((BINS,))
    h = layers.Dense(1536, activation="relu")(x)
    h = layers.Dense(768, activation="relu")(h)
    z = Sampling()(layers.Dense(LATENT)(h), layers.Dense(LATENT)(h))
    h = layers.Dense(768, activation="relu")(z)
    h = layers.Dense(1536, activation="relu")(h)
    return keras.Model(x, layers.Dense(BINS)(h))


def main():
    keras.utils.set_random_seed(3)
    x = spectra(10_000, 3)
    model = build()
    model.compile(keras.optimizers.Adam(1e-3), "mse", jit_compile=False)
    history = model.fit(x[:9_000], x[:9_000], batch_size=250, epochs=5,
                        validation_data=(x[9_000:], x[9_000:]), verbose=2)
    errors = np.square(model.predict(x[9_000:], batch_size=250, verbose=0) - x[9_000:]).mean(axis=1)
    print("val loss %.5f  95th percentile error %.5f" % (history.history["val_loss"][-1],
                                                        np.percentile(errors, 95)))


if __name__ == "__main__":
    main()
