"""Contractive autoencoder (Rifai et al. 2011) on synthetic gene-expression profiles.

The encoder is penalised with the squared Frobenius norm of its Jacobian.
"""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--n-samples", type=int, default=2400)
    p.add_argument("--n-genes", type=int, default=96)
    p.add_argument("--latent", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=40)
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--lam", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


def make_expression(n, d, rng, n_programs=8):
    """Low-rank non-negative 'programs' plus log-normal noise, log1p normalised."""
    usage = rng.gamma(0.7, 1.0, size=(n, n_programs))
    programs = rng.gamma(0.5, 2.0, size=(n_programs, d))
    counts = rng.poisson(usage @ programs + 0.1)
    x = np.log1p(counts).astype("float32")
    return (x - x.mean(0)) / (x.std(0) + 1e-6)


class ContractiveAE(keras.Model):
    def __init__(self, n_in, n_latent, lam, **kw):
        super().__init__(**kw)
        self.lam = lam
        self.encoder = keras.Sequential(
            [keras.Input((n_in,)), layers.Dense(128, activation="tanh"),
             layers.Dense(n_latent, activation="sigmoid")], name="encoder")
        self.decoder = keras.Sequential(
            [keras.Input((n_latent,)), layers.Dense(128, activation="tanh"),
             layers.Dense(n_in)], name="decoder")
        self.rec_tracker = keras.metrics.Mean(name="rec")
        self.jac_tracker = keras.metrics.Mean(name="jac")

    @property
    def metrics(self):
        return [self.rec_tracker, self.jac_tracker]

    def call(self, x):
        return self.decoder(self.encoder(x))

    def jacobian_penalty(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = self.encoder(x, training=True)
        jac = tape.batch_jacobian(h, x)
        return h, tf.reduce_mean(tf.reduce_sum(tf.square(jac), axis=[1, 2]))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            h, penalty = self.jacobian_penalty(x)
            rec = tf.reduce_mean(tf.square(self.decoder(h, training=True) - x))
            loss = rec + self.lam * penalty
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec_tracker.update_state(rec)
        self.jac_tracker.update_state(penalty)
        return {m.name: m.result() for m in self.metrics}


def main():
    args = parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x = make_expression(args.n_samples, args.n_genes, rng)
    n_test = args.n_samples // 6
    x_train, x_test = x[n_test:], x[:n_test]
    train = (tf.data.Dataset.from_tensor_slices(x_train)
             .shuffle(len(x_train), seed=args.seed)
             .batch(args.batch_size, drop_remainder=True)
             .prefetch(tf.data.AUTOTUNE))

    model = ContractiveAE(args.n_genes, args.latent, args.lam)
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    t0 = time.time()
    hist = model.fit(train, epochs=args.epochs, verbose=2)
    print(f"trained in {time.time() - t0:.1f}s")

    rec = model.predict(x_test, batch_size=256, verbose=0)
    print("test mse %.4f" % np.mean((rec - x_test) ** 2))
    z = model.encoder.predict(x_test, batch_size=256, verbose=0)
    print("latent std", np.round(z.std(0)[:5], 3), "final jac %.4f" % hist.history["jac"][-1])


if __name__ == "__main__":
    main()
