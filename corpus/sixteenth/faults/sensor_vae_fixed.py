"""Variational autoencoder on machine-sensor snapshots, used to score anomalies."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LATENT = 4
FEATURES = 40


def sensor_data(n, rng, broken=False):
    z = rng.standard_normal((n, 5))
    mix = np.random.default_rng(99).standard_normal((5, FEATURES))
    x = np.tanh(z @ mix) + 0.1 * rng.standard_normal((n, FEATURES))
    if broken:
        x[:, :6] += rng.uniform(0.8, 1.6, (n, 1))
    return x.astype(np.float32)


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([
            layers.Dense(64, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dense(2 * LATENT)])
        self.decoder = tf.keras.Sequential([
            layers.Dense(32, activation="relu"),
            layers.Dense(64, activation="relu"),
            layers.Dense(FEATURES)])

    def elbo_terms(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        eps = tf.random.normal(tf.shape(mean))
        recon = self.decoder(mean + tf.exp(0.5 * logvar) * eps)
        rec = tf.reduce_sum(tf.square(x - recon), axis=1)
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
        return rec, kl


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.loss_metric = tf.keras.metrics.Mean()

    @tf.function
    def train_step(self, x):
        with tf.GradientTape() as tape:
            rec, kl = self.model.elbo_terms(x)
            loss = tf.reduce_mean(rec + 0.1 * kl)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss_metric.update_state(loss)

    def fit(self, dataset, epochs):
        for epoch in range(epochs):
            self.loss_metric.reset_state()
            for x in dataset:
                self.train_step(x)
            print(f"epoch {epoch + 1}: loss {float(self.loss_metric.result()):.4f}")


def main():
    rng = np.random.default_rng(0)
    tf.keras.utils.set_random_seed(0)
    train = sensor_data(4096, rng)
    ds = (tf.data.Dataset.from_tensor_slices(train).cache().shuffle(4096, seed=1)
          .batch(64, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    model = VAE()
    model.elbo_terms(tf.zeros((1, FEATURES)))
    trainer = Trainer(model)
    trainer.optimizer.build(model.trainable_variables)
    trainer.fit(ds, epochs=7)

    good, _ = model.elbo_terms(sensor_data(2000, rng))
    bad, _ = model.elbo_terms(sensor_data(2000, rng, broken=True))
    threshold = np.quantile(good.numpy(), 0.95)
    print("detection rate at 5% false alarms:", float(np.mean(bad.numpy() > threshold)))


if __name__ == "__main__":
    main()
