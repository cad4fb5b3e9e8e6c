"""Denoise Raman spectra with a 1-D conv net and a correlation-based loss."""
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(42)
tf.random.set_seed(42)

LENGTH = 256
N = 3072
BATCH = 256
EPOCHS = 4


def make_spectra(n):
    grid = np.arange(LENGTH)[None, None]
    k = 6
    centre = rng.uniform(10, LENGTH - 10, (n, k, 1))
    width = rng.uniform(2, 8, (n, k, 1))
    height = rng.uniform(0.2, 1.0, (n, k, 1))
    clean = (height / (1 + ((grid - centre) / width) ** 2)).sum(1)
    baseline = rng.uniform(0, 0.5, (n, 1)) * np.linspace(1, 0, LENGTH)[None]
    noisy = clean + baseline + rng.normal(0, 0.12, clean.shape)
    return noisy[..., None].astype("float32"), clean[..., None].astype("float32")


def spectral_distance(pair):
    """1 - Pearson correlation, blended with a derivative term, for one spectrum."""
    t, p = pair
    t = tf.reshape(t, [-1])
    p = tf.reshape(p, [-1])
    tc, pc = t - tf.reduce_mean(t, -1), p - tf.reduce_mean(p, -1)
    corr = tf.reduce_sum(tc * pc, -1) / (tf.norm(tc, axis=-1) * tf.norm(pc, axis=-1) + 1e-6)
    dt, dp = t[1:] - t[:-1], p[1:] - p[:-1]
    slope = tf.reduce_mean(tf.abs(dt - dp), -1)
    level = tf.reduce_mean(tf.square(t - p), -1)
    return 1.0 - corr + 0.5 * slope + level


def spectral_loss(y_true, y_pred):
    per_sample = tf.map_fn(spectral_distance, (y_true, y_pred), fn_output_signature=tf.float32)
    return tf.reduce_mean(per_sample)


def denoiser():
    inp = keras.Input((LENGTH, 1))
    x = keras.layers.Conv1D(8, 9, padding="same", activation="relu")(inp)
    x = keras.layers.Conv1D(8, 9, padding="same", activation="relu")(x)
    x = keras.layers.Conv1D(1, 9, padding="same")(x)
    return keras.Model(inp, keras.layers.Add()([inp, x]))


class EpochTimer(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t0 = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: loss {logs['loss']:.4f} val {logs['val_loss']:.4f} "
              f"{time.perf_counter() - self.t0:.2f}s")


noisy, clean = make_spectra(N)
model = denoiser()
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=spectral_loss)
model.fit(noisy[:-512], clean[:-512], validation_data=(noisy[-512:], clean[-512:]),
          batch_size=BATCH, epochs=EPOCHS, callbacks=[EpochTimer()], verbose=0)

restored = model.predict(noisy[-512:], batch_size=512, verbose=0)
before = np.mean((noisy[-512:] - clean[-512:]) ** 2)
after = np.mean((restored - clean[-512:]) ** 2)
print(f"mse before {before:.4f} after {after:.4f}")
