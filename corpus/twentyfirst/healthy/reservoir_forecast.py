"""Echo state network forecasts of a chaotic series, in double precision.

The readout is a ridge regression whose normal equations have a condition number
around 1e10, so that everything is kept in float64.
"""
import numpy as np
import scipy.linalg
import tensorflow as tf

UNITS = 1200
INPUTS = 3
SERIES = 48
WARMUP = 50
STEPS = 320
HORIZON = 60
RIDGE = 1e-7


def lorenz(seed):
    """SERIES trajectories of the Lorenz system, integrated with RK4."""
    rng = np.random.default_rng(seed)
    state = rng.normal(size=(SERIES, 3)) + [0.0, 0.0, 25.0]

    def field(s):
        x, y, z = s.T
        return np.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], axis=1)

    dt, path = 0.02, []
    for _ in range(200 + STEPS + HORIZON):
        k1 = field(state)
        k2 = field(state + dt / 2 * k1)
        k3 = field(state + dt / 2 * k2)
        k4 = field(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(state)
    return np.stack(path[200:]) / 20.0


class Reservoir(tf.Module):
    def __init__(self, seed=0, radius=0.9):
        rng = np.random.default_rng(seed)
        q, _ = np.linalg.qr(rng.normal(size=(UNITS, UNITS)))
        self.w = tf.constant(radius * q)
        self.w_in = tf.constant(rng.uniform(-0.5, 0.5, (INPUTS, UNITS)))

    def step(self, state, u):
        return tf.tanh(tf.matmul(state, self.w) + tf.matmul(u, self.w_in))

    @tf.function
    def drive(self, inputs):
        """Teacher-forced states, (time, series, units)."""
        zero = tf.zeros((SERIES, UNITS), tf.float64)
        return tf.scan(self.step, inputs, initializer=zero)

    @tf.function
    def forecast(self, state, readout):
        outputs = tf.TensorArray(tf.float64, size=HORIZON)
        for t in tf.range(HORIZON):
            u = tf.matmul(state, readout)
            outputs = outputs.write(t, u)
            state = self.step(state, u)
        return outputs.stack()


def fit_readout(states, targets):
    gram = np.zeros((UNITS, UNITS))
    cross = np.zeros((UNITS, INPUTS))
    # one block of time at a time, the states of all series do not fit twice
    for start in range(WARMUP, len(states), 93):
        s = states[start : start + 93].reshape(-1, UNITS)
        y = targets[start : start + 93].reshape(-1, INPUTS)
        gram += s.T @ s
        cross += s.T @ y
    gram[np.diag_indices(UNITS)] += RIDGE
    return scipy.linalg.solve(gram, cross, assume_a="pos")


def main():
    reservoir = Reservoir()
    train, test = lorenz(1), lorenz(2)
    states = reservoir.drive(train[:STEPS]).numpy()
    readout = fit_readout(states[:-1], train[1:STEPS])
    residual = states[-2] @ readout - train[STEPS - 1]
    print(f"one-step rmse {np.sqrt((residual ** 2).mean()):.3e}")

    states = reservoir.drive(test[:STEPS])
    prediction = reservoir.forecast(states[-1], tf.constant(readout)).numpy()
    error = np.sqrt(((prediction - test[STEPS : STEPS + HORIZON]) ** 2).mean(axis=(1, 2)))
    for h in (1, 5, 10, 20, 40):
        print(f"horizon {h:3d} rmse {error[h - 1]:.5f}")


if __name__ == "__main__":
    main()
