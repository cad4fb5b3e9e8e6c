"""Closed-loop check of a neural surrogate of a stirred tank reactor against the real equations.

The surrogate gives the next temperature and concentration from the present state and
coolant flow; a PI controller closes the loop and both plants run side by side.
"""
import numpy as np
import tensorflow as tf
from tensorflow import keras

DT = 0.05
STEPS = 160


def reactor(state, coolant):
    conc, temp = state
    rate = 7.2e10 * np.exp(-8750.0 / temp) * conc
    d_conc = 1.0 * (1.0 - conc) - rate
    d_temp = 1.0 * (350.0 - temp) + 60.0 * rate + 2.092 * (coolant - temp)
    return np.array([conc + DT * 0.2 * d_conc, temp + DT * 0.2 * d_temp])


def build_surrogate(seed=5):
    """Random-feature network: hidden layers fixed, read-out by least squares."""
    keras.utils.set_random_seed(seed)
    inp = keras.Input((3,))
    h = keras.layers.Dense(128, activation="tanh")(inp)
    h = keras.layers.Dense(128, activation="tanh")(h)
    out = keras.layers.Dense(2)(h)
    model = keras.Model(inp, out)
    features = keras.Model(inp, h)

    rng = np.random.default_rng(seed)
    conc = rng.uniform(0.2, 1.0, 4000)
    temp = rng.uniform(320.0, 380.0, 4000)
    cool = rng.uniform(280.0, 340.0, 4000)
    nxt = np.array([reactor(s, c) for s, c in zip(np.stack([conc, temp], 1), cool)])
    x = scale(np.stack([conc, temp, cool], 1))
    y = np.stack([nxt[:, 0] - conc, nxt[:, 1] - temp], 1)
    phi = features.predict(x, batch_size=1000, verbose=0)
    phi1 = np.hstack([phi, np.ones((len(phi), 1))])
    w = np.linalg.solve(phi1.T @ phi1 + 1e-4 * np.eye(phi1.shape[1]), phi1.T @ y)
    model.layers[-1].set_weights([w[:-1], w[-1]])
    return model


def scale(x):
    return ((np.atleast_2d(x) - [0.6, 350.0, 310.0]) / [0.4, 30.0, 30.0]).astype("float32")


def closed_loop(advance, set_point):
    state = np.array([0.8, 340.0])
    integral, track = 0.0, []
    for k in range(STEPS):
        error = set_point - state[1]
        integral += error * DT
        coolant = np.clip(310.0 + 1.5 * error + 0.8 * integral, 280.0, 340.0)
        state = advance(state, coolant)
        track.append(state)
    return np.array(track)


def main():
    model = build_surrogate()

    def advance(state, coolant):
        row = scale(np.append(state, coolant))
        delta = model.predict(row, verbose=0)
        return state + delta[0]

    for target in (345.0, 352.0):
        truth = closed_loop(reactor, target)
        learned = closed_loop(advance, target)
        gap = np.abs(truth - learned)
        print(f"target {target}: end {truth[-1].round(3)} surrogate {learned[-1].round(3)} "
              f"max gap T {gap[:, 1].max():.3f} K  c {gap[:, 0].max():.4f}")


if __name__ == "__main__":
    main()
