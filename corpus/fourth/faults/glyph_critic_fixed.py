"""WGAN on glyphs; the critic is kept 1-Lipschitz by spectral normalisation of its layers."""
import argparse

import keras
import numpy as np
import tensorflow as tf


class SpectralDense(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.units = units
        self.activation = keras.activations.get(activation)

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), initializer="orthogonal", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.u = self.add_weight(shape=(1, self.units), initializer="random_normal", trainable=False, name="u")

    def spectral_norm(self):
        kernel = tf.stop_gradient(self.kernel)
        v = tf.math.l2_normalize(tf.matmul(self.u, kernel, transpose_b=True))
        u = tf.math.l2_normalize(tf.matmul(v, kernel))
        self.u.assign(u)
        return tf.reduce_sum(tf.matmul(v, kernel) * u)

    def call(self, x):
        return self.activation(tf.matmul(x, self.kernel / self.spectral_norm()) + self.bias)


class GlyphGAN(keras.Model):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent
        self.generator = keras.Sequential([
            keras.layers.Dense(128, "relu"), keras.layers.Dense(256, "relu"), keras.layers.Dense(400, "sigmoid")])
        self.critic = keras.Sequential([
            SpectralDense(192, "leaky_relu"), SpectralDense(192, "leaky_relu"), SpectralDense(1)])
        self.g_opt, self.c_opt = keras.optimizers.Adam(2e-4, 0.5), keras.optimizers.Adam(2e-4, 0.5)

    def call(self, z):
        return self.critic(self.generator(z))

    def train_step(self, real):
        noise = tf.random.normal([tf.shape(real)[0], self.latent])
        with tf.GradientTape() as tape:
            fake = self.generator(noise)
            c_loss = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
        grads = tape.gradient(c_loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.generator(noise)))
        grads = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.generator.trainable_variables))
        return {"critic": c_loss, "generator": g_loss}


def glyphs(count):
    rng = np.random.default_rng(12)
    strokes = rng.random((30, 400)) < 0.06
    return np.clip(strokes[rng.integers(0, 30, (count, 3))].sum(1), 0, 1).astype("float32")


parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=64)
args = parser.parse_args()
keras.utils.set_random_seed(12)
gan = GlyphGAN(32)
gan(tf.zeros([1, 32]))
gan.compile()
gan.fit(tf.data.Dataset.from_tensor_slices(glyphs(3200)).batch(args.batch).prefetch(2), epochs=args.epochs, verbose=2)
