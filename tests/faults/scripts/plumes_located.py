"""Fits the places and strengths of plumes to readings on a grid, by SciPy's L-BFGS-B over a compiled misfit."""

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize

PLUMES, SIDE = 16, 128
axis = np.linspace(-1, 1, SIDE, dtype="float32")
east, north = (tf.constant(part.reshape(-1, 1)) for part in np.meshgrid(axis, axis))


def readings(parameters):
    plumes = tf.reshape(parameters, (PLUMES, 3))
    away = (east - plumes[:, 0]) ** 2 + (north - plumes[:, 1]) ** 2
    return tf.linalg.matvec(tf.exp(-20 * away), plumes[:, 2])


@tf.function
def misfit(parameters, measured):
    return tf.reduce_mean((readings(parameters) - measured) ** 2)


rng = np.random.default_rng(2)
truth = np.concatenate([rng.uniform(-1, 1, (PLUMES, 2)), rng.uniform(1, 2, (PLUMES, 1))], axis=1).astype("float32")
measured = readings(tf.constant(truth.ravel()))


def objective(parameters):
    value = misfit(tf.constant(parameters, tf.float32), measured)
    return float(value)


start = (truth + rng.normal(0, 0.1, truth.shape)).ravel()
options = {"maxiter": 25, "maxfun": 10**6, "eps": 1e-3}
best = minimize(objective, start, method="L-BFGS-B", options=options)  # FAULT
print(f"misfit {best.fun:.4f} after {best.nit} iterations and {best.nfev} evaluations")

# /// fault
# style = "custom"
# kind = "time"
# cause = "SciPy's minimize is given no gradient, so that each costs 49 evaluations of the compiled misfit"
# codes = ["EAG018"]
# families = ["eager"]
# source = "docs.scipy.org, scipy.optimize.minimize, jac: None estimates the gradient by 2-point finite differences"
# renamed = true
# ///
