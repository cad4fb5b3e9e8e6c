import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Sampling(layers.Layer):
    def __init__(self, seed=1, **kw):
        super().__init__(**kw)
        self.generator = keras.random.SeedGenerator(seed)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(tf.shape(mean), seed=self.generator)
        return mean + tf.exp(0.5 * log_var) * eps


def encoder(length, latent):
    inputs = keras.Input((length, 1))
    x = layers.GaussianNoise(0.05, seed=2)(inputs)
    for width in (8, 16, 16):
        x = layers.Conv1D(width, 5, strides=2, padding="same", activation="relu")(x)
        x = layers.LayerNormalization()(x)
    x = layers.Flatten()(x)
    mean, log_var = layers.Dense(latent)(x), layers.Dense(latent)(x)
    return keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])])


def decoder(length, latent):
    inputs = keras.Input((latent,))
    x = layers.Dense(length // 8 * 16, activation="relu")(inputs)
    x = layers.Reshape((length // 8, 16))(x)
    for width in (16, 8, 8):
        x = layers.Conv1DTranspose(width, 5, strides=2, padding="same", activation="relu")(x)
    return keras.Model(inputs, layers.Conv1D(1, 5, padding="same")(x))


class VAE(keras.Model):
    def __init__(self, length, latent=6, beta=0.01, **kw):
        super().__init__(**kw)
        self.encoder = encoder(length, latent)
        self.decoder = decoder(length, latent)
        self.beta = beta
        self.trackers = {
            name: keras.metrics.Mean(name=name) for name in ("loss", "reconstruction", "kl")
        }

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data, training=True)
            rebuilt = self.decoder(z, training=True)
            reconstruction = tf.reduce_mean(tf.square(data - rebuilt))
            kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
            loss = reconstruction + self.beta * kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        for name, value in zip(self.trackers, (loss, reconstruction, kl)):
            self.trackers[name].update_state(value)
        return {m.name: m.result() for m in self.metrics}


def heartbeats(n, length, seed=19):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, length)
    center = rng.uniform(0.3, 0.7, (n, 1))
    width = rng.uniform(0.02, 0.06, (n, 1))
    beat = np.exp(-((t - center) ** 2) / (2 * width**2)) - 0.3 * np.exp(
        -((t - center - 0.1) ** 2) / (2 * (2 * width) ** 2)
    )
    return (beat + rng.normal(0, 0.02, beat.shape)).astype("float32")[..., None]


def main():
    keras.utils.set_random_seed(19)
    x = heartbeats(960, 96)
    vae = VAE(96)
    vae.compile(optimizer=keras.optimizers.Adam(2e-3), run_eagerly=True)
    hist = vae.fit(x, batch_size=48, epochs=3, shuffle=False, verbose=0).history
    print("epochs", len(hist["loss"]))
    print("loss %.2f -> %.2f" % (hist["loss"][0], hist["loss"][-1]))
    error = np.abs(vae(x[:64]).numpy() - x[:64]).mean()
    print("error below 0.2:", bool(error < 0.2))


if __name__ == "__main__":
    main()
