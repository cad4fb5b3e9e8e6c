"""Energy landscape of the transverse-field Ising chain with a layered ansatz."""
import argparse
from functools import reduce

import numpy as np
import tensorflow as tf

C = tf.complex64
I2 = tf.eye(2, dtype=C)
X = tf.constant([[0, 1], [1, 0]], C)
Z = tf.constant([[1, 0], [0, -1]], C)


def kron(a, b):
    n, m = a.shape[0], b.shape[0]
    return tf.reshape(tf.einsum("ij,kl->ikjl", a, b), (n * m, n * m))


def rx(theta):
    c, s = tf.cast(tf.cos(theta / 2), C), tf.cast(tf.sin(theta / 2), C)
    return c * I2 - 1j * s * X


def ry(theta):
    c, s = tf.cast(tf.cos(theta / 2), C), tf.cast(tf.sin(theta / 2), C)
    return c * I2 + s * tf.constant([[0, -1], [1, 0]], C)


class StatevectorSimulator:
    def __init__(self, n_qubits):
        self.n = n_qubits

    def zero_state(self):
        return tf.one_hot(0, 2 ** self.n, dtype=C)

    def one_qubit(self, state, gate, target):
        parts = tf.reshape(state, (2 ** target, 2, -1))
        return tf.reshape(tf.einsum("ij,ajb->aib", gate, parts), (-1,))

    def phase_zz(self, state, theta, a, b):
        signs = self.sign(a) * self.sign(b)
        angle = tf.complex(0.0 * theta, -theta / 2) * signs
        return tf.exp(angle) * state

    def sign(self, q):
        bits = (np.arange(2 ** self.n) >> (self.n - 1 - q)) & 1
        return tf.constant(1.0 - 2.0 * bits, C)

    def energy(self, state, coupling, field):
        probs = tf.math.real(state * tf.math.conj(state))
        zz = sum(tf.math.real(self.sign(q) * self.sign(q + 1)) for q in range(self.n - 1))
        e = -coupling * tf.reduce_sum(probs * zz)
        for q in range(self.n):
            flipped = self.one_qubit(state, X, q)
            e -= field * tf.math.real(tf.reduce_sum(tf.math.conj(state) * flipped))
        return e


class Ansatz:
    def __init__(self, sim, layers):
        self.sim, self.layers = sim, layers
        self.n_params = layers * 3

    def __call__(self, params):
        state = self.sim.zero_state()
        for q in range(self.sim.n):
            state = self.sim.one_qubit(state, ry(tf.constant(np.pi / 2, tf.float32)), q)
        for layer in range(self.layers):
            zz, x, y = (params[3 * layer + k] for k in range(3))
            for q in range(self.sim.n - 1):
                state = self.sim.phase_zz(state, zz, q, q + 1)
            for q in range(self.sim.n):
                state = self.sim.one_qubit(self.sim.one_qubit(state, rx(x), q), ry(y), q)
        return state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--qubits", type=int, default=9)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--points", type=int, default=44)
    args = parser.parse_args()

    sim = StatevectorSimulator(args.qubits)
    ansatz = Ansatz(sim, args.layers)

    @tf.function
    def evaluate(params):
        return sim.energy(ansatz(params), 1.0, 1.1)

    rng = np.random.RandomState(0)
    grid = rng.uniform(-0.6, 0.6, (args.points, ansatz.n_params)).astype(np.float32)
    energies = np.array([float(evaluate(tf.constant(p))) for p in grid])
    best = energies.argmin()
    print("lowest energy %.3f" % energies[best], "at", np.round(grid[best], 2).tolist())
    print("mean energy %.3f" % energies.mean())


if __name__ == "__main__":
    main()
