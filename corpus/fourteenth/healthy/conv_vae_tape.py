"""Convolutional VAE, custom loop with GradientTape inside tf.function."""
import argparse
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers


def shapes(n, side, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:side, :side].astype(np.float32)
    cy, cx = rng.uniform(8, side - 8, (2, n, 1, 1))
    r = rng.uniform(3, 8, (n, 1, 1))
    square = np.maximum(np.abs(yy - cy), np.abs(xx - cx)) < r
    disc = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
    kind = rng.integers(0, 2, (n, 1, 1)).astype(bool)
    return np.where(kind, square, disc).astype(np.float32)[..., None]


class VAE(keras.Model):
    def __init__(self, side, latent):
        super().__init__()
        self.latent = latent
        self.encoder = keras.Sequential([
            keras.Input((side, side, 1)),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(),
            layers.Dense(2 * latent)])
        q = side // 4
        self.decoder = keras.Sequential([
            keras.Input((latent,)),
            layers.Dense(q * q * 64, activation="relu"),
            layers.Reshape((q, q, 64)),
            layers.Conv2DTranspose(64, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same")])
        self.noise = tf.random.Generator.from_seed(10)

    def elbo(self, x):
        mean, logvar = tf.split(self.encoder(x, training=True), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * self.noise.normal(tf.shape(mean))
        logits = self.decoder(z, training=True)
        rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=[1, 2, 3])
        kl = -0.5 * tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1)
        return tf.reduce_mean(rec + kl), tf.reduce_mean(kl)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--side", type=int, default=48)
    p.add_argument("--latent", type=int, default=8)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--steps", type=int, default=70)
    a = p.parse_args()
    keras.utils.set_random_seed(6)
    data = shapes(2048, a.side, 0)
    ds = iter(tf.data.Dataset.from_tensor_slices(data).shuffle(2048, seed=0).repeat()
              .batch(a.batch, drop_remainder=True).prefetch(2))
    vae = VAE(a.side, a.latent)
    opt = keras.optimizers.Adam(1e-3)
    opt.build(vae.trainable_variables)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss, kl = vae.elbo(x)
        g = tape.gradient(loss, vae.trainable_variables)
        opt.apply(g, vae.trainable_variables)
        return loss, kl

    t0 = time.time()
    for i in range(a.steps):
        loss, kl = step(next(ds))
        if i % 25 == 0 or i == a.steps - 1:
            print("step %d  -elbo %.2f  kl %.2f  (%.1f s)" % (i, loss, kl, time.time() - t0))
    out = tf.sigmoid(vae.decoder(tf.random.stateless_normal((16, a.latent), (1, 2))))
    print("mean ink of the samples: %.4f" % float(tf.reduce_mean(out)))


if __name__ == "__main__":
    main()
