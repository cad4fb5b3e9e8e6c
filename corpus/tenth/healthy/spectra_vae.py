# Variational autoencoder for 1-D spectra (keras Model with its own train_step)
import numpy as np
import tensorflow as tf
import keras
from keras import layers

N_BINS = 512
LATENT = 8
keras.utils.set_random_seed(77)


def make_spectra(n):
    rng = np.random.default_rng(1)
    grid = np.linspace(0, 1, N_BINS, dtype="float32")
    out = np.zeros((n, N_BINS), "float32")
    for _ in range(4):
        centre = rng.uniform(0.05, 0.95, (n, 1)).astype("float32")
        width = rng.uniform(0.01, 0.05, (n, 1)).astype("float32")
        height = rng.uniform(0.1, 1.0, (n, 1)).astype("float32")
        out += height * np.exp(-0.5 * ((grid - centre) / width) ** 2)
    return out / out.max(1, keepdims=True)


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(tf.shape(mean), seed=self.seed_generator)
        return mean + tf.exp(0.5 * log_var) * eps


def build_encoder():
    x_in = keras.Input((N_BINS,))
    x = layers.Dense(1024, activation="relu")(x_in)
    x = layers.Dense(512, activation="relu")(x)
    mean = layers.Dense(LATENT, name="mean")(x)
    log_var = layers.Dense(LATENT, name="log_var")(x)
    return keras.Model(x_in, [mean, log_var, Sampling()([mean, log_var])], name="encoder")


def build_decoder():
    z_in = keras.Input((LATENT,))
    x = layers.Dense(512, activation="relu")(z_in)
    x = layers.Dense(1024, activation="relu")(x)
    return keras.Model(z_in, layers.Dense(N_BINS, activation="sigmoid")(x), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, beta=1e-3, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder, self.beta = encoder, decoder, beta
        self.rec_tracker = keras.metrics.Mean(name="rec")
        self.kl_tracker = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.rec_tracker, self.kl_tracker]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data, training=True)
            recon = self.decoder(z, training=True)
            rec = tf.reduce_mean(tf.square(data - recon))
            kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
            loss = rec + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec_tracker.update_state(rec)
        self.kl_tracker.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def main():
    spectra = make_spectra(12000)
    vae = VAE(build_encoder(), build_decoder())
    vae.compile(optimizer=keras.optimizers.Adam(1e-3))
    vae.fit(spectra, epochs=8, batch_size=256, verbose=2)

    mean, _, _ = vae.encoder.predict(spectra[:1024], batch_size=512, verbose=0)
    recon = vae.decoder.predict(mean, batch_size=512, verbose=0)
    print("reconstruction mse %.5f" % np.mean((recon - spectra[:1024]) ** 2))
    print("active dims:", int((mean.std(0) > 0.1).sum()))


if __name__ == "__main__":
    main()
