"""Fits a sum of damped oscillations to NMR-like signals with scipy's L-BFGS-B; the model is in TensorFlow."""
import argparse
import time

import numpy as np
import scipy.optimize
import tensorflow as tf

tf.keras.backend.set_floatx("float64")


def unpack(theta, k):
    amp, freq, decay, phase = tf.split(theta, 4)
    return tf.nn.softplus(amp), freq, tf.nn.softplus(decay), phase


class SignalModel:
    def __init__(self, n_points, k):
        self.k = k
        self.t = tf.constant(np.linspace(0, 4, n_points))

    def signal(self, theta):
        amp, freq, decay, phase = unpack(theta, self.k)
        arg = 2 * np.pi * freq[:, None] * self.t + phase[:, None]
        return tf.reduce_sum(amp[:, None] * tf.exp(-decay[:, None] * self.t) * tf.cos(arg), axis=0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.float64)])
    def cost(self, theta, observed):
        ridge = 1e-5 * tf.reduce_sum(tf.square(theta))
        return tf.reduce_mean(tf.square(self.signal(theta) - observed)) + ridge

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float64), tf.TensorSpec([None], tf.float64)])
    def cost_and_grad(self, theta, observed):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = self.cost(theta, observed)
        return value, tape.gradient(value, theta)


def simulate(model, rng, noise):
    k = model.k
    truth = np.concatenate([rng.uniform(0.5, 2, k), np.sort(rng.uniform(1, 12, k)),
                            rng.uniform(-2, 0, k), rng.uniform(-1, 1, k)])
    clean = model.signal(tf.constant(truth)).numpy()
    return truth, clean + rng.normal(0, noise, clean.shape)


def initial_guess(truth, k, rng):
    guess = truth + rng.normal(0, 0.15, truth.shape)
    guess[k : 2 * k] = truth[k : 2 * k] + rng.normal(0, 0.04, k)
    return guess


def fit(model, observed, theta0, max_iter):
    obs = tf.constant(observed)

    def objective(theta):
        return float(model.cost(tf.constant(theta), obs))

    return scipy.optimize.minimize(objective, theta0, method="L-BFGS-B",
                                   options={"maxiter": max_iter, "maxfun": 10 ** 6})


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--signals", type=int, default=10)
    ap.add_argument("--points", type=int, default=2000)
    ap.add_argument("--components", type=int, default=8)
    ap.add_argument("--max-iter", type=int, default=40)
    ap.add_argument("--noise", type=float, default=0.05)
    args = ap.parse_args()
    rng = np.random.default_rng(33)
    model = SignalModel(args.points, args.components)
    rows, t0 = [], time.time()
    for i in range(args.signals):
        truth, observed = simulate(model, rng, args.noise)
        res = fit(model, observed, initial_guess(truth, args.components, rng), args.max_iter)
        k = args.components
        rows.append((res.fun, res.nit, np.abs(res.x[k : 2 * k] - truth[k : 2 * k]).mean()))
        print(f"signal {i}: cost {res.fun:.5f} after {res.nit} iterations")
    cost, nit, err = np.mean(rows, axis=0)
    print(f"mean cost {cost:.5f}, {nit:.0f} iterations, frequency error {err:.4f} Hz, {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
