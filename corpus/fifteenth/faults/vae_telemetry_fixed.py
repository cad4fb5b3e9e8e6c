"""Beta-VAE on machine telemetry windows (anomaly scoring)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 11
WINDOW = 48
CHANNELS = 4
LATENT = 6
BATCH = 64
EPOCHS = 5


def synth_windows(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, WINDOW, dtype=np.float32)[None, :, None]
    freq = rng.uniform(1, 5, size=(n, 1, CHANNELS))
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1, CHANNELS))
    x = np.sin(2 * np.pi * freq * t + phase) + 0.1 * rng.normal(size=(n, WINDOW, CHANNELS))
    return x.reshape(n, -1).astype(np.float32)


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_gen = keras.random.SeedGenerator(SEED)

    def call(self, inputs):
        mu, log_var = inputs
        eps = keras.random.normal(keras.ops.shape(mu), seed=self.seed_gen)
        return mu + keras.ops.exp(0.5 * log_var) * eps


def build_encoder():
    inp = keras.Input((WINDOW * CHANNELS,))
    h = layers.Dense(128, activation="relu")(inp)
    h = layers.LayerNormalization()(h)
    h = layers.Dense(64, activation="relu")(h)
    mu = layers.Dense(LATENT)(h)
    log_var = layers.Dense(LATENT)(h)
    z = Sampling()([mu, log_var])
    return keras.Model(inp, [mu, log_var, z], name="encoder")


def build_decoder():
    inp = keras.Input((LATENT,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.LayerNormalization()(h)
    h = layers.Dense(128, activation="relu")(h)
    return keras.Model(inp, layers.Dense(WINDOW * CHANNELS)(h), name="decoder")


keras.utils.set_random_seed(SEED)
encoder, decoder = build_encoder(), build_decoder()
optimizer = keras.optimizers.Adam(1e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)
rec_metric = keras.metrics.Mean()
kl_metric = keras.metrics.Mean()


@tf.function
def train_step(x, beta):
    with tf.GradientTape() as tape:
        mu, log_var, z = encoder(x, training=True)
        recon = decoder(z, training=True)
        rec = tf.reduce_mean(tf.reduce_sum(tf.square(x - recon), axis=1))
        kl = -0.5 * tf.reduce_mean(
            tf.reduce_sum(1 + log_var - tf.square(mu) - tf.exp(log_var), axis=1)
        )
        loss = rec + beta * kl
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    rec_metric.update_state(rec)
    kl_metric.update_state(kl)
    return loss


def main():
    x_train = synth_windows(6144, 0)
    x_test = synth_windows(1024, 1)
    ds = (
        tf.data.Dataset.from_tensor_slices(x_train)
        .shuffle(6144, seed=SEED)
        .batch(BATCH, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    for epoch in range(EPOCHS):
        rec_metric.reset_state()
        kl_metric.reset_state()
        beta = tf.constant(min(1.0, (epoch + 1) / 3), tf.float32)
        for x in ds:
            train_step(x, beta)
        print(f"epoch {epoch}: rec={float(rec_metric.result()):.3f} kl={float(kl_metric.result()):.3f}")

    mu, _, _ = encoder(x_test, training=False)
    err = np.mean((decoder(mu, training=False).numpy() - x_test) ** 2, axis=1)
    print("test error: mean %.4f  p99 %.4f" % (err.mean(), np.quantile(err, 0.99)))


if __name__ == "__main__":
    main()
