import math

import numpy as np
import tensorflow as tf


class GPR(tf.Module):
    def __init__(self, dim, noise=1e-3):
        super().__init__()
        self.lengthscales = tf.Variable(np.full(dim, 0.3), dtype=tf.float64)
        self.noise = noise
        self.X = tf.Variable(np.zeros((1, dim)), shape=[None, dim], dtype=tf.float64)
        self.alpha = tf.Variable(np.zeros((1, 1)), shape=[None, 1], dtype=tf.float64)
        self.L = tf.Variable(np.eye(1), shape=[None, None], dtype=tf.float64)

    def K(self, a, b):
        a, b = a / self.lengthscales, b / self.lengthscales
        r2 = tf.reduce_sum(tf.square(a), -1)[:, None] + tf.reduce_sum(tf.square(b), -1)[None] - 2 * tf.matmul(a, b, transpose_b=True)
        return tf.exp(-0.5 * tf.maximum(r2, 0.0))

    def update(self, X, Y):
        X = tf.constant(X)
        L = tf.linalg.cholesky(self.K(X, X) + self.noise * tf.eye(len(X), dtype=tf.float64))
        self.X.assign(X)
        self.L.assign(L)
        self.alpha.assign(tf.linalg.cholesky_solve(L, tf.constant(Y)))

    def predict(self, x):
        k = self.K(self.X, x)
        v = tf.linalg.triangular_solve(self.L, k)
        return tf.matmul(k, self.alpha, transpose_a=True)[:, 0], 1.0 + 1e-9 - tf.reduce_sum(tf.square(v), 0)


class ExpectedImprovement:
    def prepare_acquisition_function(self, model, X, Y):
        eta = tf.constant(Y.min(), tf.float64)

        @tf.function
        def acquisition(x):
            mean, var = model.predict(x)
            sd = tf.sqrt(tf.maximum(var, 1e-12))
            u = (eta - mean) / sd
            cdf = 0.5 * (1.0 + tf.math.erf(u / math.sqrt(2.0)))
            pdf = tf.exp(-0.5 * tf.square(u)) / math.sqrt(2 * math.pi)
            return (eta - mean) * cdf + sd * pdf

        return acquisition


def make_optimizer(acquisition, dim, steps=12, starts=6):
    @tf.function
    def ascend(x):
        for _ in range(steps):
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = tf.reduce_sum(tf.math.log(acquisition(x) + 1e-12))
            x = tf.clip_by_value(x + 0.002 * tape.gradient(value, x), 0.0, 1.0)
        return x, acquisition(x)

    def optimise(rng):
        candidates = rng.rand(300, dim)
        scores = acquisition(tf.constant(candidates)).numpy()
        x, values = ascend(tf.constant(candidates[np.argsort(-scores)[:starts]]))
        return x.numpy()[int(np.argmax(values.numpy()))]

    return optimise


def hartmann_like(x):
    return -np.exp(-8 * np.sum((x - 0.35) ** 2, -1, keepdims=True)) + 0.05 * np.cos(6 * x).sum(-1, keepdims=True)


class BayesianOptimizer:
    def __init__(self, observer, dim, rule, seed=0):
        self.observer, self.dim, self.rule = observer, dim, rule
        self.rng = np.random.RandomState(seed)

    def optimize(self, num_steps, n_initial=5):
        X = self.rng.rand(n_initial, self.dim)
        Y = self.observer(X)
        model = GPR(self.dim)
        for step in range(num_steps):
            model.update(X, Y)
            acquisition = self.rule.prepare_acquisition_function(model, X, Y)
            optimise = make_optimizer(acquisition, self.dim)
            x = optimise(self.rng)[None]
            X, Y = np.vstack([X, x]), np.vstack([Y, self.observer(x)])
        return X, Y


if __name__ == "__main__":
    X, Y = BayesianOptimizer(hartmann_like, 2, ExpectedImprovement()).optimize(num_steps=7)
    print("evaluations", len(Y))
    print("best %.3f" % Y.min(), "at", np.round(X[Y.argmin()], 2).tolist())
