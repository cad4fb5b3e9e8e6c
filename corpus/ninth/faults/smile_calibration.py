"""Calibrate an SVI volatility smile per expiry and underlying with L-BFGS-B."""
import numpy as np
import tensorflow as tf
from scipy.optimize import minimize

tf.keras.backend.set_floatx("float64")


def market(n, seed=12):
    rng = np.random.default_rng(seed)
    quotes = []
    for _ in range(n):
        k = np.sort(rng.uniform(-0.6, 0.6, 21))
        a, b = rng.uniform(0.01, 0.04), rng.uniform(0.05, 0.3)
        rho, m, s = rng.uniform(-0.7, 0.1), rng.uniform(-0.1, 0.1), rng.uniform(0.08, 0.3)
        w = a + b * (rho * (k - m) + np.sqrt((k - m) ** 2 + s ** 2))
        quotes.append((k, w + rng.normal(0, 2e-4, k.shape), rng.uniform(0.5, 2.0, k.shape)))
    return quotes


def total_variance(p, k):
    a = tf.nn.softplus(p[0]) * 0.05
    b = tf.nn.softplus(p[1]) * 0.2
    rho = tf.tanh(p[2])
    m = p[3]
    s = tf.nn.softplus(p[4]) * 0.2 + 1e-3
    d = k - m
    return a + b * (rho * d + tf.sqrt(d * d + s * s))


def density_penalty(p, k):
    """Butterfly arbitrage term on a fine grid around the quotes."""
    grid = tf.linspace(k[0] - 0.2, k[-1] + 0.2, 61)
    w = tf.maximum(total_variance(p, grid), 1e-6)
    h = grid[1] - grid[0]
    w1 = (w[2:] - w[:-2]) / (2 * h)
    w2 = (w[2:] - 2 * w[1:-1] + w[:-2]) / (h * h)
    g = tf.square(1 - grid[1:-1] * w1 / (2 * w[1:-1])) - w1 * w1 / 4 * (1 / w[1:-1] + 0.25) + w2 / 2
    return tf.reduce_mean(tf.square(tf.nn.relu(-g)))


def calibrate(k, w, weight):
    k, w, weight = tf.constant(k), tf.constant(w), tf.constant(weight)

    @tf.function
    def objective(p):
        with tf.GradientTape() as tape:
            tape.watch(p)
            miss = tf.reduce_mean(weight * tf.square(total_variance(p, k) - w))
            value = 1e4 * miss + 0.1 * density_penalty(p, k) + 1e-5 * tf.reduce_sum(p * p)
        return value, tape.gradient(value, p)

    def fun(x):
        value, grad = objective(tf.constant(x))
        return value.numpy(), grad.numpy()

    return minimize(fun, np.array([0.0, 0.0, -0.3, 0.0, 0.0]), jac=True, method="L-BFGS-B",
                    options={"maxiter": 8})


def main():
    errors, evals = [], 0
    for k, w, weight in market(48):
        res = calibrate(k, w, weight)
        fitted = total_variance(tf.constant(res.x), tf.constant(k)).numpy()
        errors.append(np.sqrt(np.mean((fitted - w) ** 2)))
        evals += res.nfev
    print(f"{len(errors)} smiles, {evals} evaluations, "
          f"rms {np.mean(errors):.3e}, worst {np.max(errors):.3e}")


if __name__ == "__main__":
    main()
