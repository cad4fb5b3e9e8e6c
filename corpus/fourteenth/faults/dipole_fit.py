"""Find the positions and moments of magnetic dipoles below a survey grid.

scipy's L-BFGS-B drives a compiled TensorFlow forward model.
"""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time

import numpy as np
from scipy.optimize import minimize
import tensorflow as tf

N_DIPOLES = 12
GRID = 56
MAX_ITER = 60


def survey_grid():
    g = np.linspace(-10.0, 10.0, GRID)
    xx, yy = np.meshgrid(g, g)
    pts = np.stack([xx.ravel(), yy.ravel(), np.full(xx.size, 1.0)], axis=1)
    return tf.constant(pts, tf.float64)


POINTS = survey_grid()


def unpack(theta):
    p = tf.reshape(theta, (N_DIPOLES, 6))
    pos = tf.stack([p[:, 0], p[:, 1], -tf.nn.softplus(p[:, 2]) - 0.5], axis=1)
    return pos, p[:, 3:]


def field(theta):
    """Vertical component of the field of all the dipoles at the survey points."""
    pos, mom = unpack(theta)
    r = POINTS[:, None, :] - pos[None, :, :]
    d2 = tf.reduce_sum(r * r, axis=-1)
    d = tf.sqrt(d2)
    mr = tf.reduce_sum(mom[None] * r, axis=-1)
    bz = 3.0 * mr * r[..., 2] / (d2 * d2 * d) - mom[None, :, 2] / (d2 * d)
    return tf.reduce_sum(bz, axis=1)


def true_parameters(rng):
    p = np.zeros((N_DIPOLES, 6))
    p[:, :2] = rng.uniform(-8, 8, (N_DIPOLES, 2))
    p[:, 2] = rng.uniform(0.5, 2.0, N_DIPOLES)
    p[:, 3:] = rng.normal(0, 10, (N_DIPOLES, 3))
    return p


@tf.function(input_signature=[tf.TensorSpec((N_DIPOLES * 6,), tf.float64),
                              tf.TensorSpec((None,), tf.float64)])
def misfit(theta, observed):
    res = field(theta) - observed
    ridge = 1e-5 * tf.reduce_sum(tf.square(tf.reshape(theta, (N_DIPOLES, 6))[:, 3:]))
    return 0.5 * tf.reduce_sum(tf.square(res)) + ridge


class Objective:
    def __init__(self, observed):
        self.observed = tf.constant(observed)
        self.calls = 0

    def __call__(self, theta):
        self.calls += 1
        return misfit(tf.constant(theta), self.observed).numpy()


def main():
    rng = np.random.default_rng(19)
    truth = true_parameters(rng)
    observed = field(tf.constant(truth.ravel())).numpy()
    observed += rng.normal(0, 0.02, observed.shape)
    start = truth.copy()
    start[:, :3] += rng.normal(0, 0.5, (N_DIPOLES, 3))
    start[:, 3:] *= rng.uniform(0.5, 1.5, (N_DIPOLES, 1))

    obj = Objective(observed)
    t0 = time.time()

    def report(theta, state={"n": 0}):
        state["n"] += 1
        if state["n"] % 15 == 0:
            print("iteration %d, %d calls, %.1f s" % (state["n"], obj.calls, time.time() - t0))

    res = minimize(obj, start.ravel(), method="L-BFGS-B", callback=report,
                   options={"maxiter": MAX_ITER, "maxfun": 10 ** 6, "maxcor": 20})
    print("%s; misfit %.5f after %d iterations, %d calls" % (
        "converged" if res.success else "stopped", res.fun, res.nit, obj.calls))
    shift = np.abs(res.x.reshape(N_DIPOLES, 6)[:, :2] - truth[:, :2]).mean()
    print("mean error of horizontal position: %.3f" % shift)


if __name__ == "__main__":
    main()
