"""Leading principal components of a wide data set by compiled block power iteration."""
import argparse

import numpy as np
import tensorflow as tf

ap = argparse.ArgumentParser()
ap.add_argument("--rows", type=int, default=20000)
ap.add_argument("--cols", type=int, default=1024)
ap.add_argument("--rank", type=int, default=32)
ap.add_argument("--turns", type=int, default=60)
opts = ap.parse_args()


@tf.function
def components(data, turns, rank):
    data = data - tf.reduce_mean(data, axis=0)
    cov = tf.matmul(data, data, transpose_a=True) / tf.cast(tf.shape(data)[0], tf.float32)
    basis = tf.linalg.qr(tf.random.stateless_normal([data.shape[1], rank], seed=[1, 5]))[0]
    for _ in tf.range(turns):
        basis = tf.linalg.qr(tf.matmul(cov, basis))[0]
    return basis, tf.linalg.diag_part(tf.matmul(basis, tf.matmul(cov, basis), transpose_a=True))


rng = np.random.default_rng(5)
low = rng.standard_normal((opts.rows, 40), dtype=np.float32)
mix = rng.standard_normal((40, opts.cols), dtype=np.float32)
explained = []
for trial in range(8):
    noise = tf.random.stateless_normal([opts.rows, opts.cols], seed=[5, trial])
    basis, spectrum = components(tf.linalg.matmul(low, mix) + noise, tf.constant(opts.turns), opts.rank)
    explained.append(float(tf.reduce_sum(spectrum)))
print("explained variance %.3f" % np.mean(explained))
