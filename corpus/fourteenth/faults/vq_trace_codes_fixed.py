"""Discrete codes for short electrode traces (a small VQ-VAE).

Hi all, this is my whole script. It learns 512 codewords for little windows of
synthetic recordings. The net is tiny, but one epoch takes for ever on my laptop
and memory use is huge. Any ideas?
"""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)

N_TRACES, LENGTH, BATCH, EPOCHS = 512, 256, 64, 5
CODE_DIM, N_CODES = 64, 512


def make_traces(n, length, rng):
    t = np.arange(length, dtype=np.float32)
    out = np.zeros((n, length), np.float32)
    for _ in range(4):
        centre = rng.uniform(0, length, (n, 1)).astype(np.float32)
        width = rng.uniform(2, 14, (n, 1)).astype(np.float32)
        height = rng.normal(0, 1, (n, 1)).astype(np.float32)
        out += height * np.exp(-((t - centre) / width) ** 2)
    out += 0.05 * rng.standard_normal(out.shape).astype(np.float32)
    return out[..., None]


class Quantizer(layers.Layer):
    """Replaces every vector by its nearest codeword (straight-through gradient)."""

    def __init__(self, n_codes, dim, beta=0.25, **kw):
        super().__init__(**kw)
        self.n_codes, self.dim, self.beta = n_codes, dim, beta

    def build(self, shape):
        self.codebook = self.add_weight(
            shape=(self.n_codes, self.dim), name="codebook",
            initializer=keras.initializers.RandomUniform(-0.5, 0.5, seed=3))

    def call(self, z):
        flat = tf.reshape(z, (-1, self.dim))
        codebook = tf.convert_to_tensor(self.codebook)
        # squared distance of each vector to each codeword
        # |z - c|^2 = |z|^2 - 2 z.c + |c|^2 ; |z|^2 does not change the argmin
        dist = (tf.reduce_sum(tf.square(codebook), axis=-1)[None, :]
                - 2.0 * tf.matmul(flat, codebook, transpose_b=True))
        idx = tf.argmin(dist, axis=-1)
        q = tf.reshape(tf.gather(codebook, idx), tf.shape(z))
        commit = tf.reduce_mean(tf.square(tf.stop_gradient(q) - z))
        book = tf.reduce_mean(tf.square(q - tf.stop_gradient(z)))
        self.add_loss(self.beta * commit + book)
        return z + tf.stop_gradient(q - z)


class VQVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential([
            layers.Conv1D(32, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1D(CODE_DIM, 1)])
        self.vq = Quantizer(N_CODES, CODE_DIM)
        self.dec = keras.Sequential([
            layers.Conv1DTranspose(64, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1DTranspose(32, 5, strides=2, padding="same", activation="relu"),
            layers.Conv1D(1, 3, padding="same")])
        self.rec = keras.metrics.Mean(name="rec")

    def call(self, x):
        return self.dec(self.vq(self.enc(x)))

    @property
    def metrics(self):
        return [self.rec]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            y = self(x, training=True)
            rec = tf.reduce_mean(tf.square(x - y))
            loss = rec + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec.update_state(rec)
        return {"rec": self.rec.result()}


data = make_traces(N_TRACES, LENGTH, np.random.default_rng(0))
ds = (tf.data.Dataset.from_tensor_slices(data)
      .shuffle(1024, seed=5).batch(BATCH, drop_remainder=True).prefetch(2))
model = VQVAE()
model.compile(optimizer=keras.optimizers.Adam(1e-3))
hist = model.fit(ds, epochs=EPOCHS, verbose=2)
print("last reconstruction error: %.4f" % hist.history["rec"][-1])
