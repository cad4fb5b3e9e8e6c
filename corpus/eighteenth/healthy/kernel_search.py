"""Gradient search for Gaussian-process hyperparameters, one evaluation a step."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class MarginalLikelihood(tf.Module):
    def __init__(self, x, y):
        super().__init__()
        self.x = tf.constant(x)
        self.y = tf.constant(y)
        self.log_scale = tf.Variable(tf.zeros([x.shape[1]], tf.float64))
        self.log_signal = tf.Variable(tf.zeros([], tf.float64))
        self.log_noise = tf.Variable(tf.constant(-2.0, tf.float64))

    def covariance(self):
        scaled = self.x * tf.exp(-self.log_scale)
        norm = tf.reduce_sum(tf.square(scaled), -1)
        cross = tf.matmul(scaled, scaled, transpose_b=True)
        dist = tf.maximum(norm[:, None] + norm[None, :] - 2.0 * cross, 0.0)
        kernel = tf.exp(self.log_signal - 0.5 * dist)
        noise = tf.exp(self.log_noise) + 1e-6
        return tf.linalg.set_diag(kernel, tf.linalg.diag_part(kernel) + noise)

    def negative(self):
        chol = tf.linalg.cholesky(self.covariance())
        alpha = tf.linalg.triangular_solve(chol, self.y)
        log_det = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        return 0.5 * tf.reduce_sum(tf.square(alpha)) + log_det

    @tf.function
    def value_and_gradient(self):
        with tf.GradientTape() as tape:
            value = self.negative()
        return value, tape.gradient(value, self.trainable_variables)


class Search:
    """Gradient steps whose size grows on success and shrinks on failure."""

    def __init__(self, objective, rate=1e-3):
        self.objective = objective
        self.rate = rate
        self.trace = []

    def run(self, iterations, tolerance):
        variables = self.objective.trainable_variables
        value, grads = self.objective.value_and_gradient()
        self.trace.append(value.numpy())
        for _ in range(iterations):
            before = [v.numpy() for v in variables]
            for v, g in zip(variables, grads):
                v.assign_sub(self.rate * g)
            new_value, new_grads = self.objective.value_and_gradient()
            if new_value.numpy() < value.numpy():
                gain = value.numpy() - new_value.numpy()
                value, grads = new_value, new_grads
                self.rate *= 1.3
                self.trace.append(value.numpy())
                if gain < tolerance:
                    break
            else:
                for v, old in zip(variables, before):
                    v.assign(old)
                self.rate *= 0.4
        return value.numpy()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=900)
    parser.add_argument("--iterations", type=int, default=30)
    args = parser.parse_args()

    rng = np.random.default_rng(8)
    x = rng.uniform(-2, 2, size=(args.points, 5))
    y = np.sin(2 * x[:, :1]) * x[:, 1:2] + 0.1 * rng.normal(size=(args.points, 1))
    objective = MarginalLikelihood(x, y)
    search = Search(objective)
    final = search.run(args.iterations, tolerance=1e-3)
    scales = np.exp(objective.log_scale.numpy())
    print("accepted", len(search.trace), "value", round(float(final), 3), "scales", np.round(scales, 3).tolist())


if __name__ == "__main__":
    main()
