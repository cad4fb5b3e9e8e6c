"""Variational auto-encoder for stroke images (Keras 3 model with its own train_step)."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(29)

SIZE, LATENT = 32, 8


def strokes(n, seed):
    """Two random thick line segments per picture."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    image = np.zeros((n, SIZE, SIZE), "float32")
    for _ in range(2):
        a, b = rng.uniform(5, SIZE - 5, (2, n, 2)).astype("float32")
        d = b - a
        t = (xx - a[:, :1, None]) * d[:, :1, None] + (yy - a[:, 1:, None]) * d[:, 1:, None]
        t = np.clip(t / ((d ** 2).sum(1)[:, None, None] + 1e-6), 0, 1)
        dist = (xx - a[:, :1, None] - t * d[:, :1, None]) ** 2 + (yy - a[:, 1:, None] - t * d[:, 1:, None]) ** 2
        image = np.maximum(image, np.exp(-dist / 3))
    return image[..., None]


def make_encoder():
    inp = keras.Input((SIZE, SIZE, 1))
    x = layers.Conv2D(32, 4, strides=2, padding="same", activation="relu")(inp)
    x = layers.Conv2D(64, 4, strides=2, padding="same", activation="relu")(x)
    x = layers.Dense(128, activation="relu")(layers.Flatten()(x))
    return keras.Model(inp, [layers.Dense(LATENT)(x), layers.Dense(LATENT)(x)])


def make_decoder():
    inp = keras.Input((LATENT,))
    x = layers.Dense(8 * 8 * 64, activation="relu")(inp)
    x = layers.Reshape((8, 8, 64))(x)
    x = layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(1, 4, strides=2, padding="same")(x)
    return keras.Model(inp, x)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = make_encoder(), make_decoder()
        self.seed = keras.random.SeedGenerator(29)
        self.rec = keras.metrics.Mean(name="rec")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.rec, self.kl]

    def losses_of(self, x, training):
        mean, logvar = self.encoder(x, training=training)
        z = mean + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mean), seed=self.seed)
        logits = self.decoder(z, training=training)
        rec = tf.reduce_mean(tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(x, logits), axis=(1, 2, 3)))
        kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
        return rec, kl

    def train_step(self, x):
        with tf.GradientTape() as tape:
            rec, kl = self.losses_of(x, True)
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply(grads, self.trainable_weights)
        self.rec.update_state(rec)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, x):
        rec, kl = self.losses_of(x, False)
        self.rec.update_state(rec)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


if __name__ == "__main__":
    x = strokes(4096, 1)
    x_test = strokes(768, 2)
    train = tf.data.Dataset.from_tensor_slices(x).shuffle(4096, seed=1).batch(128).prefetch(tf.data.AUTOTUNE)
    test = tf.data.Dataset.from_tensor_slices(x_test).batch(256)
    vae = VAE()
    vae.compile(optimizer=keras.optimizers.Adam(2e-3))
    vae.fit(train, validation_data=test, epochs=8, verbose=2)
    grid = vae.decoder.predict(np.random.default_rng(0).normal(size=(256, LATENT)).astype("float32"), verbose=0)
    print("brightness: samples %.3f, data %.3f" % ((1 / (1 + np.exp(-grid))).mean(), x.mean()))
