"""Small regression service: a Gaussian process answers batches of queries."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class SquaredExponential:
    def __init__(self, variance, lengthscales):
        self.variance = tf.Variable(variance, dtype=tf.float64)
        self.lengthscales = tf.Variable(lengthscales, dtype=tf.float64)

    def __call__(self, a, b=None):
        a = a / self.lengthscales
        b = a if b is None else b / self.lengthscales
        dist = (
            tf.reduce_sum(tf.square(a), -1)[:, None]
            + tf.reduce_sum(tf.square(b), -1)[None, :]
            - 2.0 * tf.matmul(a, b, transpose_b=True)
        )
        return self.variance * tf.exp(-0.5 * tf.maximum(dist, 0.0))

    def diag(self, a):
        return tf.fill([tf.shape(a)[0]], self.variance.value())


class GPRegressor(tf.Module):
    def __init__(self, x, y, kernel, noise):
        super().__init__()
        self.x = tf.constant(x)
        self.y = tf.constant(y)
        self.kernel = kernel
        self.noise = tf.Variable(noise, dtype=tf.float64)
        self.mean = tf.reduce_mean(self.y)
        self.chol, self.alpha = self.precompute()

    @tf.function
    def precompute(self):
        n = tf.shape(self.x)[0]
        k_xx = self.kernel(self.x) + self.noise * tf.eye(n, dtype=tf.float64)
        chol = tf.linalg.cholesky(k_xx)
        alpha = tf.linalg.cholesky_solve(chol, self.y - self.mean)
        return chol, alpha

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def predict(self, x_new):
        k_xs = self.kernel(self.x, x_new)
        mean = tf.matmul(k_xs, self.alpha, transpose_a=True) + self.mean
        v = tf.linalg.triangular_solve(self.chol, k_xs)
        var = self.kernel.diag(x_new) - tf.reduce_sum(tf.square(v), 0)
        return mean[:, 0], var


class Service:
    def __init__(self, model):
        self.model = model
        self.served = 0

    def handle(self, payload):
        x = tf.constant(np.asarray(payload, dtype=np.float64))
        mean, var = self.model.predict(x)
        self.served += len(payload)
        return {
            "mean": mean.numpy().tolist(),
            "std": np.sqrt(np.maximum(var.numpy(), 0.0)).tolist(),
        }


def make_data(rng, n, dim):
    x = rng.uniform(-3, 3, size=(n, dim))
    y = np.sin(x[:, :1]) + 0.3 * x[:, 1:2] ** 2 + 0.1 * rng.normal(size=(n, 1))
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1800)
    parser.add_argument("--requests", type=int, default=70)
    parser.add_argument("--size", type=int, default=16)
    args = parser.parse_args()

    rng = np.random.default_rng(3)
    x, y = make_data(rng, args.points, 4)
    model = GPRegressor(x, y, SquaredExponential(1.5, [1.0, 1.2, 2.0, 2.0]), 0.01)
    service = Service(model)

    total, spread = 0.0, 0.0
    for _ in range(args.requests):
        query = rng.uniform(-3, 3, size=(args.size, 4)).tolist()
        answer = service.handle(query)
        total += sum(answer["mean"])
        spread += sum(answer["std"])
    print(f"served {service.served} mean {total / service.served:.6f} std {spread / service.served:.6f}")


if __name__ == "__main__":
    main()
