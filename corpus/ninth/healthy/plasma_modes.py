"""Dominant modes of a plasma sensor array: randomised subspace iteration on a big snapshot matrix."""
import argparse

import numpy as np
import tensorflow as tf


def snapshots(sensors, times, rank, seed):
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((sensors, rank)).astype("float32")
    v = rng.standard_normal((rank, times)).astype("float32")
    amp = (0.8 ** np.arange(rank)).astype("float32")
    noise = rng.standard_normal((sensors, times), dtype="float32")
    return tf.constant((u * amp) @ v + 0.05 * noise)


@tf.function
def subspace(a, start, sweeps):
    q, _ = tf.linalg.qr(start)
    for _ in tf.range(sweeps):
        z, _ = tf.linalg.qr(tf.matmul(a, q, transpose_a=True))
        q, _ = tf.linalg.qr(tf.matmul(a, z))
    return q


@tf.function
def project(a, q):
    small = tf.matmul(q, a, transpose_a=True)
    gram = tf.matmul(small, small, transpose_b=True)
    values, vectors = tf.linalg.eigh(gram)
    order = tf.argsort(values, direction="DESCENDING")
    energy = tf.sqrt(tf.maximum(tf.gather(values, order), 0.0))
    return energy, tf.matmul(q, tf.gather(vectors, order, axis=1))


@tf.function
def residual(a, modes, k):
    m = modes[:, :k]
    coeff = tf.matmul(m, a, transpose_a=True)
    return tf.norm(a - tf.matmul(m, coeff)) / tf.norm(a)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--sensors", type=int, default=6000)
    ap.add_argument("--times", type=int, default=5000)
    ap.add_argument("--modes", type=int, default=48)
    ap.add_argument("--sweeps", type=int, default=30)
    a = ap.parse_args()
    tf.random.set_seed(10)
    data = snapshots(a.sensors, a.times, 30, 10)
    start = tf.random.normal([a.sensors, a.modes])
    q = subspace(data, start, tf.constant(a.sweeps))
    energy, modes = project(data, q)
    for k in (5, 15, 30):
        print(f"{k:2d} modes: energy {float(energy[k - 1]):10.3f} "
              f"residual {float(residual(data, modes, tf.constant(k))):.5f}")


if __name__ == "__main__":
    main()
