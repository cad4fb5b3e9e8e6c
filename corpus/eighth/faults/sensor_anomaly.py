"""Mahalanobis score of every reading of a plant with many sensors."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

SENSORS = 900
BATCH = 128


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    mix = np.random.default_rng(99).normal(size=(40, SENSORS))
    return rng.normal(size=(n, 40)) @ mix + rng.normal(size=(n, SENSORS))


class Detector:
    def __init__(self, shrink=0.05):
        self.shrink = shrink

    def fit(self, x):
        x = tf.constant(x, tf.float64)
        self.mean = tf.reduce_mean(x, axis=0)
        d = x - self.mean
        cov = tf.matmul(d, d, transpose_a=True) / tf.cast(tf.shape(x)[0] - 1, tf.float64)
        self.cov = cov + self.shrink * tf.eye(SENSORS, dtype=tf.float64)
        return self

    @tf.function
    def score(self, x):
        d = x - self.mean
        precision = tf.linalg.inv(self.cov)
        return tf.sqrt(tf.reduce_sum(tf.matmul(d, precision) * d, axis=1))


history = simulate(4000, seed=1)
detector = Detector().fit(history)
threshold = np.quantile(detector.score(tf.constant(history)).numpy(), 0.999)
print("threshold %.2f" % threshold)

stream = simulate(BATCH * 110, seed=2)
stream[5000:5040, 17] += 25.0   # a broken sensor
alarms = []
for start in range(0, len(stream), BATCH):
    s = detector.score(tf.constant(stream[start:start + BATCH])).numpy()
    hits = np.flatnonzero(s > threshold) + start
    alarms.extend(hits.tolist())
print(len(alarms), "alarms, first", alarms[:5])
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
