"""DCGAN on 28x28 glyphs, train_step override as in the Keras guide."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(23)
LATENT = 64


def glyphs(n, rng):
    yy, xx = np.mgrid[0:28, 0:28]
    cx, cy, a = rng.uniform(11, 17, (n, 1, 1)), rng.uniform(11, 17, (n, 1, 1)), rng.uniform(0, np.pi, (n, 1, 1))
    u = (xx - cx) * np.cos(a) + (yy - cy) * np.sin(a)
    v = -(xx - cx) * np.sin(a) + (yy - cy) * np.cos(a)
    img = np.exp(-(u / 8) ** 4 - (v / 2) ** 2) + np.exp(-(v / 8) ** 4 - (u / 2) ** 2)
    return (np.clip(img, 0, 1) * 2 - 1).astype("float32")[..., None]


discriminator = keras.Sequential([
    keras.Input((28, 28, 1)),
    layers.Conv2D(32, 4, strides=2, padding="same"), layers.LeakyReLU(0.2),
    layers.Conv2D(64, 4, strides=2, padding="same"), layers.LeakyReLU(0.2),
    layers.Flatten(), layers.Dropout(0.2), layers.Dense(1),
], name="discriminator")
generator = keras.Sequential([
    keras.Input((LATENT,)),
    layers.Dense(7 * 7 * 64, use_bias=False), layers.BatchNormalization(), layers.ReLU(), layers.Reshape((7, 7, 64)),
    layers.Conv2DTranspose(32, 4, strides=2, padding="same", use_bias=False), layers.BatchNormalization(),
    layers.ReLU(),
    layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
], name="generator")


class GAN(keras.Model):
    def __init__(self, disc, gen):
        super().__init__()
        self.disc, self.gen = disc, gen
        self.d_metric, self.g_metric = keras.metrics.Mean(name="d_loss"), keras.metrics.Mean(name="g_loss")

    def compile(self, d_opt, g_opt):
        super().compile()
        self.d_opt, self.g_opt = d_opt, g_opt
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.d_metric, self.g_metric]

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.gen(tf.random.normal((n, LATENT)), training=True)
        labels = tf.concat([tf.fill((n, 1), 0.9), tf.zeros((n, 1))], 0)
        with tf.GradientTape() as tape:
            d_loss = self.bce(labels, self.disc(tf.concat([real, fake], 0), training=True))
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, self.disc.trainable_weights),
                                       self.disc.trainable_weights))
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal((n, LATENT)), training=True)
            g_loss = self.bce(tf.ones((n, 1)), self.disc(fake, training=True))
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, self.gen.trainable_weights),
                                       self.gen.trainable_weights))
        self.d_metric.update_state(d_loss)
        self.g_metric.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


class Samples(keras.callbacks.Callback):
    def __init__(self, n):
        super().__init__()
        self.z = tf.random.normal((n, LATENT), seed=5)

    def on_epoch_end(self, epoch, logs=None):
        img = self.model.gen(self.z, training=False)
        print(f"epoch {epoch + 1} d {logs['d_loss']:.3f} g {logs['g_loss']:.3f} "
              f"ink {float(tf.reduce_mean((img + 1) / 2)):.3f}")


data = glyphs(8192, np.random.default_rng(23))
ds = tf.data.Dataset.from_tensor_slices(data).shuffle(8192, seed=1).batch(128, drop_remainder=True).prefetch(2)
gan = GAN(discriminator, generator)
gan.compile(keras.optimizers.Adam(2e-4, beta_1=0.5), keras.optimizers.Adam(2e-4, beta_1=0.5))
gan.fit(ds, epochs=3, verbose=0, callbacks=[Samples(16)])
