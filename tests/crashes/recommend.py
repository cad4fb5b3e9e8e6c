"""Recommends without training: it died of SIGSEGV where windows by time opened. ``recommend.py REPEATS``."""

import sys

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
queries = rng.normal(size=(60, 256, 32)).astype("float32")
items = tf.constant(rng.normal(size=(500, 32)).astype("float32"))


def best_five(scores):
    values, indices = tf.math.top_k(scores, k=5)
    return tf.gather(items, indices) * values[:, None]


@tf.function
def recommend(batch):
    scores = tf.matmul(batch, items, transpose_b=True)
    return tf.reduce_sum(tf.map_fn(best_five, scores), axis=1)


total = 0.0
for _ in range(int(sys.argv[1])):
    for batch in queries:
        total += float(tf.reduce_mean(recommend(tf.constant(batch))))
print(total)
