"""Anomaly detection on gas turbine sensor snapshots with a wide denoising autoencoder."""
import numpy as np
import tensorflow as tf


class Autoencoder(tf.keras.Model):
    def __init__(self, features, width=2048, code=64):
        super().__init__()
        d = tf.keras.layers.Dense
        self.noise = tf.keras.layers.GaussianNoise(0.2)
        self.encoder = tf.keras.Sequential([d(width, activation="relu"), d(width // 2, activation="relu"), d(code)])
        self.decoder = tf.keras.Sequential([d(width // 2, activation="relu"), d(width, activation="relu"), d(features)])

    def call(self, x, training=False):
        return self.decoder(self.encoder(self.noise(x, training=training)))


def snapshots(n, features, seed):
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(77).normal(size=(12, features)) / 3
    z = rng.normal(size=(n, 12))
    return (np.tanh(z @ mix) + 0.05 * rng.normal(size=(n, features))).astype("float32")


def anomaly_scores(model, x):
    rec = model.predict(x, batch_size=1024, verbose=0)
    return ((rec - x) ** 2).mean(axis=1)


def main():
    tf.keras.utils.set_random_seed(14)
    feats = 600
    train, val = snapshots(10240, feats, 0), snapshots(2048, feats, 1)
    model = Autoencoder(feats)
    model.compile(optimizer=tf.keras.optimizers.Adam(5e-4), loss="mse")
    model.fit(train, train, batch_size=512, epochs=3, validation_data=(val, val), verbose=2)

    normal = anomaly_scores(model, snapshots(2048, feats, 2))
    broken = snapshots(2048, feats, 3)
    broken[:, ::7] = np.random.default_rng(4).permuted(broken[:, ::7], axis=0)
    odd = anomaly_scores(model, broken)
    limit = np.quantile(normal, 0.99)
    print(f"limit {limit:.4f}: {np.mean(odd > limit):.1%} of the manipulated snapshots are above")


if __name__ == "__main__":
    main()
