"""DCGAN on drawings of coins, own compiled training step."""
import time
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

NOISE, BATCH, SIDE = 64, 64, 32


def coins(n, seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1:1:SIDE * 1j, -1:1:SIDE * 1j]
    imgs = np.empty((n, SIDE, SIDE, 1), "float32")
    for i in range(n):
        cy, cx = rng.normal(0, 0.15, 2)
        r = np.hypot(y - cy, x - cx)
        rad = rng.uniform(0.4, 0.8)
        imgs[i, ..., 0] = np.tanh(8 * (rad - r)) + 0.4 * np.sin(rng.integers(2, 6) * np.arctan2(y, x)) * (r < rad * 0.7)
    return np.clip(imgs, -1, 1)


def generator():
    return tf.keras.Sequential([
        layers.Input((NOISE,)),
        layers.Dense(4 * 4 * 128, use_bias=False), layers.BatchNormalization(), layers.ReLU(),
        layers.Reshape((4, 4, 128)),
        layers.Conv2DTranspose(64, 4, 2, "same", use_bias=False), layers.BatchNormalization(), layers.ReLU(),
        layers.Conv2DTranspose(32, 4, 2, "same", use_bias=False), layers.BatchNormalization(), layers.ReLU(),
        layers.Conv2DTranspose(1, 4, 2, "same", activation="tanh")])


def discriminator():
    return tf.keras.Sequential([
        layers.Input((SIDE, SIDE, 1)),
        layers.Conv2D(32, 4, 2, "same"), layers.LeakyReLU(0.2),
        layers.Conv2D(64, 4, 2, "same"), layers.LeakyReLU(0.2),
        layers.Conv2D(128, 4, 2, "same"), layers.LeakyReLU(0.2),
        layers.Flatten(), layers.Dense(1)])


class GAN:
    def __init__(self):
        self.g, self.d = generator(), discriminator()
        self.go = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.do = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.go.build(self.g.trainable_variables)
        self.do.build(self.d.trainable_variables)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(self, real):
        z = tf.random.normal([tf.shape(real)[0], NOISE])
        with tf.GradientTape() as gt, tf.GradientTape() as dt:
            fake = self.g(z, training=True)
            rl, fl = self.d(real, training=True), self.d(fake, training=True)
            dl = self.bce(tf.ones_like(rl) * 0.9, rl) + self.bce(tf.zeros_like(fl), fl)
            gl = self.bce(tf.ones_like(fl), fl)
        self.go.apply_gradients(zip(gt.gradient(gl, self.g.trainable_variables), self.g.trainable_variables))
        self.do.apply_gradients(zip(dt.gradient(dl, self.d.trainable_variables), self.d.trainable_variables))
        return gl, dl


def main(epochs=6):
    tf.keras.utils.set_random_seed(5)
    ds = (tf.data.Dataset.from_tensor_slices(coins(3072)).shuffle(3072, seed=0)
          .batch(BATCH, drop_remainder=True).prefetch(2))
    gan = GAN()
    for e in range(epochs):
        t, gsum, dsum, n = time.time(), 0.0, 0.0, 0
        for real in ds:
            gl, dl = gan.step(real)
            gsum, dsum, n = gsum + gl, dsum + dl, n + 1
        print(f"epoch {e}: generator {float(gsum) / n:.3f} discriminator {float(dsum) / n:.3f} {time.time() - t:.1f}s")


if __name__ == "__main__":
    main()
