"""Multinomial logistic regression with random Fourier features: scipy L-BFGS on a compiled TensorFlow objective."""
import argparse
import time

import numpy as np
import scipy.optimize
import tensorflow as tf


def spirals(n, classes, rng):
    label = rng.integers(0, classes, n)
    r = rng.uniform(0.1, 1, n)
    th = 4 * r + 2 * np.pi * label / classes + rng.normal(0, 0.15, n)
    return np.stack([r * np.cos(th), r * np.sin(th)], 1), label


class FourierSoftmax:
    def __init__(self, n_features, classes, scale, l2, rng):
        self.freq = rng.normal(0, scale, (2, n_features))
        self.phase = rng.uniform(0, 2 * np.pi, n_features)
        self.shape, self.l2 = (n_features, classes), l2

    def features(self, x):
        return (np.cos(x @ self.freq + self.phase) * np.sqrt(2 / self.shape[0])).astype("float32")

    def fit(self, x, y, iters):
        phi, target = tf.constant(self.features(x)), tf.constant(y, tf.int32)

        @tf.function(input_signature=[tf.TensorSpec(self.shape, tf.float32)])
        def value_and_grad(w):
            with tf.GradientTape() as tape:
                tape.watch(w)
                nll = tf.nn.sparse_softmax_cross_entropy_with_logits(target, tf.matmul(phi, w))
                loss = tf.reduce_mean(nll) + self.l2 * tf.reduce_sum(tf.square(w))
            return loss, tape.gradient(loss, w)

        def objective(flat):
            loss, grad = value_and_grad(tf.constant(flat.reshape(self.shape), tf.float32))
            return float(loss), grad.numpy().astype("float64").ravel()

        res = scipy.optimize.minimize(objective, np.zeros(np.prod(self.shape)), jac=True, method="L-BFGS-B",
                                      options={"maxiter": iters, "maxcor": 20})
        self.w = res.x.reshape(self.shape).astype("float32")
        return res

    def predict(self, x):
        return (self.features(x) @ self.w).argmax(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=30000)
    ap.add_argument("--features", type=int, default=1024)
    ap.add_argument("--classes", type=int, default=8)
    ap.add_argument("--iters", type=int, default=60)
    args = ap.parse_args()
    rng = np.random.default_rng(15)
    x, y = spirals(args.samples, args.classes, rng)
    xt, yt = spirals(5000, args.classes, rng)
    for scale in (2.0, 6.0):
        t0 = time.time()
        model = FourierSoftmax(args.features, args.classes, scale, 1e-6, rng)
        res = model.fit(x, y, args.iters)
        acc = np.mean(model.predict(xt) == yt)
        print(f"scale {scale}: loss {res.fun:.4f} after {res.nfev} evaluations, test accuracy {acc:.3f}, "
              f"{time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
