"""Predator / prey / algae dynamics for a set of reef patches, integrated with RK4.

I chose TF because we want to fit the coefficients later on; for now it is only the
forward model for an ensemble of parameter draws.
"""
import time

import numpy as np
import tensorflow as tf

ENSEMBLE = 200
T_END = 40.0
DT = 0.025
SAVE_EVERY = 200

rng = np.random.default_rng(42)


def draw(mean, spread):
    return tf.constant(mean * np.exp(spread * rng.normal(size=ENSEMBLE)), tf.float32)


params = {
    "growth": draw(1.1, 0.05),
    "capacity": draw(5.0, 0.1),
    "grazing": draw(0.9, 0.05),
    "half": draw(1.5, 0.05),
    "hunt": draw(0.5, 0.05),
    "mort_prey": draw(0.15, 0.05),
    "mort_pred": draw(0.12, 0.05),
}


def derivatives(state, t):
    algae, prey, pred = state
    season = 1.0 + 0.2 * tf.sin(0.3 * t)
    uptake = params["grazing"] * algae / (params["half"] + algae)
    kill = params["hunt"] * prey / (1.0 + prey)
    d_algae = season * params["growth"] * algae * (1.0 - algae / params["capacity"]) - uptake * prey
    d_prey = 0.6 * uptake * prey - params["mort_prey"] * prey - kill * pred
    d_pred = 0.5 * kill * pred - params["mort_pred"] * pred
    return [d_algae, d_prey, d_pred]


def shifted(state, k, h):
    return [s + h * d for s, d in zip(state, k)]


def rk4(state, t):
    k1 = derivatives(state, t)
    k2 = derivatives(shifted(state, k1, DT / 2), t + DT / 2)
    k3 = derivatives(shifted(state, k2, DT / 2), t + DT / 2)
    k4 = derivatives(shifted(state, k3, DT), t + DT)
    return [tf.maximum(s + DT / 6 * (a + 2 * b + 2 * c + d), 1e-6)
            for s, a, b, c, d in zip(state, k1, k2, k3, k4)]


def initial():
    return [tf.fill([ENSEMBLE], 2.0), tf.fill([ENSEMBLE], 1.0), tf.fill([ENSEMBLE], 0.5)]


def integrate(state):
    history = []
    n = int(T_END / DT)
    t0 = time.time()
    for i in range(n):
        t = tf.constant(i * DT, tf.float32)
        state = rk4(state, t)
        if (i + 1) % SAVE_EVERY == 0:
            history.append([float(tf.reduce_mean(s)) for s in state])
            print("t=%6.1f  algae %.3f prey %.3f pred %.3f  (%.1f s)" % (
                (i + 1) * DT, *history[-1], time.time() - t0), flush=True)
    return history


if __name__ == "__main__":
    h = integrate(initial())
    print("final means:", np.round(h[-1], 3))
