"""Kriging (Gaussian process) of groundwater levels from wells; length scale by maximum likelihood on a grid."""
import math
import time
import numpy as np
import tensorflow as tf

WELLS = 2400
GRID = 240
NOISE = 0.05


def survey(seed=3):
    rng = np.random.default_rng(seed)
    xy = rng.uniform(0, 10, (WELLS, 2))
    level = np.sin(xy[:, 0]) + 0.6 * np.cos(1.4 * xy[:, 1]) + 0.2 * np.sin(xy[:, 0] * xy[:, 1] / 3)
    return xy, level + rng.normal(0, NOISE, WELLS)


def sqdist(a, b):
    return tf.maximum(tf.reduce_sum(a * a, 1)[:, None] + tf.reduce_sum(b * b, 1)[None]
                      - 2.0 * tf.matmul(a, b, transpose_b=True), 0.0)


def matern52(d2, scale):
    r = tf.sqrt(5.0 * d2 + 1e-12) / scale
    return (1.0 + r + r * r / 3.0) * tf.exp(-r)


@tf.function
def factor(xy, z, scale, noise):
    k = matern52(sqdist(xy, xy), scale)
    k = tf.linalg.set_diag(k, tf.linalg.diag_part(k) + noise ** 2)
    chol = tf.linalg.cholesky(k)
    alpha = tf.linalg.cholesky_solve(chol, z[:, None])[:, 0]
    n = tf.cast(tf.shape(z)[0], z.dtype)
    ll = (-0.5 * tf.reduce_sum(z * alpha) - tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
          - 0.5 * n * math.log(2 * math.pi))
    return chol, alpha, ll


@tf.function
def predict(xy, new, chol, alpha, scale):
    ks = matern52(sqdist(new, xy), scale)
    mean = tf.linalg.matvec(ks, alpha)
    w = tf.linalg.triangular_solve(chol, tf.transpose(ks))
    return mean, 1.0 - tf.reduce_sum(w * w, axis=0)


def main():
    xy, z = (tf.constant(a, tf.float64) for a in survey())
    noise = tf.constant(NOISE, tf.float64)
    t = time.time()
    best = None
    for s in np.geomspace(0.5, 5, 8):
        scale = tf.constant(s, tf.float64)
        chol, alpha, ll = factor(xy, z, scale, noise)
        print(f"scale {s:.3f}  log likelihood {float(ll):.2f}  {time.time() - t:.1f}s")
        if best is None or ll > best[0]:
            best = (ll, scale, chol, alpha)
    _, scale, chol, alpha = best
    axis = np.linspace(0, 10, GRID)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    means, variances = [], []
    for rows in np.array_split(grid, 12):
        m, v = predict(xy, tf.constant(rows), chol, alpha, scale)
        means.append(m.numpy())
        variances.append(v.numpy())
    m, v = np.concatenate(means), np.concatenate(variances)
    truth = np.sin(grid[:, 0]) + 0.6 * np.cos(1.4 * grid[:, 1]) + 0.2 * np.sin(grid[:, 0] * grid[:, 1] / 3)
    print(f"rmse {np.sqrt(np.mean((m - truth) ** 2)):.5f}  mean sd {np.sqrt(np.maximum(v, 0)).mean():.5f}  {time.time() - t:.1f}s")


if __name__ == "__main__":
    main()
