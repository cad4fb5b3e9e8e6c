"""Scans the likelihood of detector events over a grid of model parameters."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class ElectronSource:
    """Differential rate of each event, marginalised over hidden quanta."""

    def __init__(self, events, batch_size, max_quanta):
        self.batch_size = batch_size
        self.n_batches = len(events["s1"]) // batch_size
        shape = (self.n_batches, batch_size)
        self.columns = {
            k: tf.constant(v[: self.n_batches * batch_size].reshape(shape), tf.float32)
            for k, v in events.items()
        }
        self.quanta = tf.range(1.0, max_quanta + 1.0)

    def fetch(self, name, i_batch):
        return self.columns[name][i_batch]

    @staticmethod
    def normal_pdf(x, mean, std):
        z = (x - mean) / std
        return tf.exp(-0.5 * z * z) / (std * 2.5066283)

    @staticmethod
    def poisson_pmf(k, mean):
        return tf.exp(k * tf.math.log(mean) - mean - tf.math.lgamma(k + 1.0))

    @staticmethod
    def binomial_pmf(k, n, p):
        log_c = tf.math.lgamma(n + 1.0) - tf.math.lgamma(k + 1.0)
        log_c -= tf.math.lgamma(tf.maximum(n - k, 0.0) + 1.0)
        log_p = log_c + k * tf.math.log(p) + (n - k) * tf.math.log(1.0 - p)
        return tf.where(n >= k, tf.exp(log_p), tf.zeros_like(log_p))

    @tf.function
    def differential_rate(self, i_batch, yield_factor, g1, lifetime):
        s1 = self.fetch("s1", i_batch)
        s2 = self.fetch("s2", i_batch)
        drift = self.fetch("drift_time", i_batch)
        energy = self.fetch("energy", i_batch)
        photons = self.quanta[None, :]
        produced = self.poisson_pmf(photons, yield_factor * energy[:, None])
        detected = self.binomial_pmf(tf.round(g1 * photons), photons, g1)
        seen_s1 = self.normal_pdf(s1[:, None], g1 * photons, 0.3 + 0.1 * tf.sqrt(photons))
        survival = tf.exp(-drift / lifetime)[:, None]
        electrons = survival * photons * 0.6
        seen_s2 = self.normal_pdf(s2[:, None], electrons, 1.0 + 0.2 * tf.sqrt(electrons))
        hidden = tf.reduce_sum(produced * detected * seen_s1 * seen_s2, axis=1)
        return tf.maximum(hidden, 1e-12)

    def log_likelihood(self, yield_factor, g1, lifetime):
        total = 0.0
        for i_batch in range(self.n_batches):
            rates = self.differential_rate(i_batch, yield_factor, g1, lifetime)
            total += float(tf.reduce_sum(tf.math.log(rates)))
        return total


def simulate(n, rng):
    energy = rng.uniform(1.0, 4.0, n)
    photons = rng.poisson(12 * energy) + 1.0
    drift = rng.uniform(10, 400, n)
    return {
        "energy": energy,
        "drift_time": drift,
        "s1": 0.15 * photons + rng.normal(0, 0.4, n),
        "s2": 0.6 * photons * np.exp(-drift / 450.0) + rng.normal(0, 1.5, n),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=200)
    parser.add_argument("--max-quanta", type=int, default=90)
    args = parser.parse_args()

    rng = np.random.default_rng(12)
    source = ElectronSource(simulate(args.events, rng), args.batch_size, args.max_quanta)
    best = None
    for yield_factor in np.linspace(10.0, 14.0, 5):
        for lifetime in (350.0, 450.0, 550.0):
            ll = source.log_likelihood(float(yield_factor), 0.15, lifetime)
            if best is None or ll > best[0]:
                best = (ll, float(yield_factor), lifetime)
    print("best log likelihood %.2f at yield %.2f lifetime %.0f" % best)


if __name__ == "__main__":
    main()
