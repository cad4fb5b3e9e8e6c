# Leading eigen-space of a large covariance matrix (block power iteration + Rayleigh-Ritz).
import time
import numpy as np
import tensorflow as tf

N, K, SAMPLES = 3500, 192, 1500
OUTER, INNER = 18, 14


def factor_data(seed):
    g = tf.random.Generator.from_seed(seed)
    scores = g.normal([SAMPLES, 40]) * tf.linspace(6.0, 1.0, 40)
    loadings = g.normal([40, N]) / np.sqrt(N)
    return tf.matmul(scores, loadings) + 0.05 * g.normal([SAMPLES, N])


@tf.function
def covariance(x):
    x = x - tf.reduce_mean(x, axis=0)
    return tf.matmul(x, x, transpose_a=True) / (SAMPLES - 1.0)


@tf.function
def sweep(c, q, n):
    """n multiplications, then an orthonormal basis and its Ritz values."""
    for _ in tf.range(n):
        q = tf.matmul(c, q)
        q = q / tf.norm(q, axis=0, keepdims=True)
    q, _ = tf.linalg.qr(q)
    small = tf.matmul(q, tf.matmul(c, q), transpose_a=True)
    w, s = tf.linalg.eigh(small)
    return tf.matmul(q, s), tf.reverse(w, [0])


def explained(cov, w, ks=(5, 20, 40)):
    total = float(tf.linalg.trace(cov))
    return {k: round(float(tf.reduce_sum(w[:k])) / total, 4) for k in ks}


def main():
    t0 = time.time()
    cov = covariance(factor_data(3))
    print("covariance %s in %.1f s" % (cov.shape, time.time() - t0), flush=True)
    q = tf.linalg.qr(tf.random.Generator.from_seed(4).normal([N, K]))[0]
    previous = None
    for it in range(OUTER):
        q, w = sweep(cov, q, tf.constant(INNER))
        top = w[:20].numpy()
        change = np.inf if previous is None else np.abs(top / previous - 1).max()
        previous = top
        print(f"sweep {it}: largest {top[0]:.5f}, 20th {top[-1]:.5f}, change {change:.1e}, "
              f"{time.time() - t0:.1f} s", flush=True)
    print("explained variance:", explained(cov, w))
    residual = tf.norm(tf.matmul(cov, q[:, -20:]) - q[:, -20:] * tf.reverse(w[:20], [0])[None])
    print("residual %.2e" % float(residual))


if __name__ == "__main__":
    main()
