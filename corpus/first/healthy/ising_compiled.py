"""Checkerboard Metropolis sampling of a two-dimensional Ising model."""
import numpy as np
import tensorflow as tf

SIZE = 512


class Ising:
    def __init__(self, size, beta):
        rng = np.random.default_rng(3)
        self.spins = tf.Variable(rng.choice([-1.0, 1.0], size=(size, size)).astype("float32"))
        self.beta = beta
        idx = np.add.outer(np.arange(size), np.arange(size)) % 2
        self.masks = [tf.constant(idx == k) for k in (0, 1)]
        self.rng = tf.random.Generator.from_seed(3, alg="philox")

    def half_sweep(self, s, mask):
        near = tf.roll(s, 1, 0) + tf.roll(s, -1, 0) + tf.roll(s, 1, 1) + tf.roll(s, -1, 1)
        accept = self.rng.uniform(s.shape) < tf.exp(-2.0 * self.beta * s * near)
        return tf.where(tf.logical_and(mask, accept), -s, s)

    @tf.function
    def run(self, sweeps):
        s = self.spins.read_value()
        energy = tf.constant(0.0)
        for _ in tf.range(sweeps):
            s = self.half_sweep(s, self.masks[0])
            s = self.half_sweep(s, self.masks[1])
            energy += -tf.reduce_mean(s * (tf.roll(s, 1, 0) + tf.roll(s, 1, 1)))
        self.spins.assign(s)
        return energy / tf.cast(sweeps, tf.float32)


model = Ising(SIZE, beta=0.42)
for block in range(4):
    energy = model.run(tf.constant(700))
    print("block", block, "energy per spin %.4f" % float(energy))
