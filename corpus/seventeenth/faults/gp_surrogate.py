"""Bayesian optimisation of a black-box function with a small GP surrogate."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

DIM = 6


def black_box(x):
    return np.sin(3.0 * x).sum(axis=1) - 0.4 * (x ** 2).sum(axis=1) + 0.2 * x[:, 0] * x[:, 1]


class SquaredExponential:
    def __init__(self, variance=1.0, lengthscale=0.8):
        self.variance = tf.constant(variance, tf.float64)
        self.lengthscale = tf.constant(lengthscale, tf.float64)

    def __call__(self, a, b):
        a = a / self.lengthscale
        b = b / self.lengthscale
        sq = (tf.reduce_sum(a * a, 1)[:, None] + tf.reduce_sum(b * b, 1)[None, :]
              - 2.0 * tf.matmul(a, b, transpose_b=True))
        return self.variance * tf.exp(-0.5 * tf.maximum(sq, 0.0))


class GPR:
    def __init__(self, x, y, kernel, noise=1e-2):
        self.kernel = kernel
        self.noise = noise
        self.set_data(x, y)

    def set_data(self, x, y):
        self.x = tf.constant(x, tf.float64)
        self.y_mean = float(np.mean(y))
        self.y = tf.constant(y - self.y_mean, tf.float64)[:, None]

    def _factorise(self):
        k = self.kernel(self.x, self.x)
        k = tf.linalg.set_diag(k, tf.linalg.diag_part(k) + self.noise)
        chol = tf.linalg.cholesky(k)
        alpha = tf.linalg.cholesky_solve(chol, self.y)
        return chol, alpha

    def predict_f(self, x_new):
        x_new = tf.constant(x_new, tf.float64)
        chol, alpha = self._factorise()
        k_s = self.kernel(self.x, x_new)
        mean = tf.matmul(k_s, alpha, transpose_a=True)[:, 0] + self.y_mean
        v = tf.linalg.triangular_solve(chol, k_s)
        var = self.kernel.variance - tf.reduce_sum(v * v, 0)
        return mean.numpy(), np.maximum(var.numpy(), 1e-9)


def upper_confidence_bound(model, x, beta=2.0):
    mean, var = model.predict_f(x)
    return mean + beta * np.sqrt(var)


class LocalSearch:
    def __init__(self, n_candidates, n_steps, seed):
        self.n_candidates = n_candidates
        self.n_steps = n_steps
        self.rng = np.random.default_rng(seed)

    def maximise(self, model):
        x = self.rng.uniform(-2, 2, size=(self.n_candidates, DIM))
        best = upper_confidence_bound(model, x)
        scale = 0.5
        for _ in range(self.n_steps):
            trial = np.clip(x + scale * self.rng.normal(size=x.shape), -2, 2)
            score = upper_confidence_bound(model, trial)
            better = score > best
            x[better], best[better] = trial[better], score[better]
            scale *= 0.93
        top = np.argmax(best)
        return x[top:top + 1], best[top]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--initial", type=int, default=900)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=24)
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, size=(args.initial, DIM))
    y = black_box(x) + 0.05 * rng.normal(size=args.initial)
    model = GPR(x, y, SquaredExponential())
    search = LocalSearch(n_candidates=128, n_steps=args.steps, seed=1)

    for i in range(args.rounds):
        x_next, acq = search.maximise(model)
        x = np.vstack([x, x_next])
        y = np.concatenate([y, black_box(x_next)])
        model.set_data(x, y)
        print(f"round {i}: acquisition {acq:.4f}  observed {y[-1]:.4f}  best {y.max():.4f}")


if __name__ == "__main__":
    main()
