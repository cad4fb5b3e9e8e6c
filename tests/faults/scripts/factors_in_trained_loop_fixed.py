"""Finds the sources that heat a rod as it was measured: implicit time steps in a loop, differentiated as a whole."""

import numpy as np
import tensorflow as tf

CELLS, STEPS = 640, 12


class Rod:
    """A rod in cells, whose conductivity is known. A time step solves with a matrix of all cells."""

    def __init__(self, seed=3):
        rng = np.random.default_rng(seed)
        self.conductivity = tf.constant(rng.uniform(0.5, 2.0, CELLS + 1))
        self.measured = tf.constant(rng.uniform(0.0, 1.0, (CELLS, 1)))
        self.sources = tf.Variable(tf.zeros((CELLS, 1), tf.float64))

    def stiffness(self):
        inner = tf.linalg.diag(self.conductivity[:-1] + self.conductivity[1:])
        return inner - tf.linalg.diag(self.conductivity[1:-1], k=1) - tf.linalg.diag(self.conductivity[1:-1], k=-1)

    def response(self):
        system = tf.eye(CELLS, dtype=tf.float64) + 0.1 * self.stiffness()
        factor = tf.linalg.cholesky(system)
        return tf.linalg.cholesky_solve(factor, tf.eye(CELLS, dtype=tf.float64))

    def advance(self, response, heat):
        return tf.matmul(response, heat + 0.1 * tf.square(self.sources))

    def simulate(self):
        response = self.response()
        start = (tf.constant(0), tf.zeros((CELLS, 1), tf.float64))
        return tf.while_loop(
            lambda step, _: step < STEPS, lambda step, heat: (step + 1, self.advance(response, heat)), start
        )[1]


rod = Rod()


@tf.function
def mismatch():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(rod.simulate() - rod.measured))
    return loss, tape.gradient(loss, rod.sources)


rod.sources.assign(tf.fill((CELLS, 1), tf.constant(0.5, tf.float64)))
history = []
for _ in range(10):
    loss, slope = mismatch()
    history.append(float(loss))
    rod.sources.assign_sub(20.0 * slope)
print("mismatch", *np.round(history, 4))
