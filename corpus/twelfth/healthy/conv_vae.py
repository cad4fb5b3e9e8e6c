import time
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

Z = 16


def encoder():
    i = keras.Input((64, 64, 1))
    x = i
    for f in (32, 48, 64):
        x = layers.Conv2D(f, 4, strides=2, padding="same", activation="relu")(x)
    x = layers.Dense(128, activation="relu")(layers.Flatten()(x))
    return keras.Model(i, [layers.Dense(Z)(x), layers.Dense(Z)(x)])


def decoder():
    i = keras.Input((Z,))
    x = layers.Reshape((8, 8, 64))(layers.Dense(8 * 8 * 64, activation="relu")(i))
    for f in (64, 48, 32):
        x = layers.UpSampling2D()(x)
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
    return keras.Model(i, layers.Conv2D(1, 3, padding="same")(x))


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc, self.dec = encoder(), decoder()
        self.seed = keras.random.SeedGenerator(1)
        self.rec, self.kl = keras.metrics.Mean("rec"), keras.metrics.Mean("kl")

    @property
    def metrics(self):
        return [self.rec, self.kl]

    def call(self, x):
        mean, _ = self.enc(x)
        return self.dec(mean)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, logvar = self.enc(x, training=True)
            z = mean + ops.exp(0.5 * logvar) * keras.random.normal(ops.shape(mean), seed=self.seed)
            out = self.dec(z, training=True)
            rec = ops.mean(ops.sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=out), (1, 2, 3)))
            kl = -0.5 * ops.mean(ops.sum(1 + logvar - mean ** 2 - ops.exp(logvar), axis=1))
            loss = rec + kl
        self.optimizer.apply(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        self.rec.update_state(rec)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def sprites(n):
    rng = np.random.default_rng(6)
    x = np.zeros((n, 64, 64, 1), "float32")
    for k in range(n):
        s = rng.integers(8, 24)
        r, c = rng.integers(0, 64 - s, 2)
        x[k, r : r + s, c : c + s] = 1.0
        if rng.random() < 0.5:
            x[k, r + 3 : r + s - 3, c + 3 : c + s - 3] = 0.0
    return x


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    data = sprites(800)
    vae = VAE()
    vae.compile(optimizer=keras.optimizers.Adam(1e-3))
    for block in range(3):
        t = time.time()
        h = vae.fit(data, batch_size=64, epochs=1, verbose=0)
        print("block", block, {k: round(v[-1], 2) for k, v in h.history.items()},
              f"{time.time() - t:.1f} s", flush=True)
    print("mean of 16 reconstructions %.4f" % vae.predict(data[:16], verbose=0).mean())
