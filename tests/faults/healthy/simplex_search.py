"""Calibrates a camera's three settings by a simplex search, which asks for no gradient."""

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize

rng = np.random.default_rng(4)
scene = tf.constant(rng.uniform(size=(1024, 1024)).astype("float32"))


@tf.function
def taken(settings):
    gain, gamma, offset = tf.unstack(settings)
    return gain * scene**gamma + offset


picture = taken(tf.constant([1.4, 0.7, 0.1]))


@tf.function
def misfit(settings):
    return tf.reduce_mean((taken(settings) - picture) ** 2)


def objective(settings):
    return float(misfit(tf.constant(settings, tf.float32)))


best = minimize(objective, np.ones(3), method="Nelder-Mead", options={"maxfev": 300})
print(f"misfit {best.fun:.5f} after {best.nfev} evaluations")

# /// healthy
# style = "custom"
# note = "an optimizer of SciPy's that asks for no gradient"
# ///
