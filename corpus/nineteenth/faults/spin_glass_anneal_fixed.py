"""Simulated annealing of a two-dimensional spin glass with checkerboard sweeps."""
import argparse

import numpy as np
import tensorflow as tf


class SpinGlass(tf.Module):
    def __init__(self, side, replicas, seed):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.side = side
        self.right = tf.constant(rng.choice([-1.0, 1.0], (side, side)), tf.float32)
        self.down = tf.constant(rng.choice([-1.0, 1.0], (side, side)), tf.float32)
        spins = rng.choice([-1.0, 1.0], (replicas, side, side))
        self.spins = tf.Variable(spins, dtype=tf.float32)
        rows, cols = np.mgrid[:side, :side]
        self.colors = [tf.constant((rows + cols) % 2 == c) for c in (0, 1)]
        self.seed = tf.Variable([seed, 0], dtype=tf.int32)

    def local_field(self, s):
        east = self.right * tf.roll(s, -1, 2)
        west = tf.roll(self.right, 1, 1) * tf.roll(s, 1, 2)
        south = self.down * tf.roll(s, -1, 1)
        north = tf.roll(self.down, 1, 0) * tf.roll(s, 1, 1)
        return east + west + south + north

    @tf.function
    def energy(self):
        s = self.spins
        bonds = self.right * s * tf.roll(s, -1, 2) + self.down * s * tf.roll(s, -1, 1)
        return -tf.reduce_sum(bonds, [1, 2]) / self.side**2

    @tf.function
    def sweep(self, beta, passes=3):
        accepted = 0.0
        for _ in range(passes):
            for color in self.colors:
                s = self.spins.value()
                cost = 2.0 * s * self.local_field(s)
                self.seed.assign_add([0, 1])
                u = tf.random.stateless_uniform(tf.shape(s), self.seed)
                flip = tf.logical_and(u < tf.exp(-beta * cost), color)
                self.spins.assign(tf.where(flip, -s, s))
                accepted += tf.reduce_mean(tf.cast(flip, tf.float32))
        return accepted / passes


class Schedule:
    def __init__(self, start, stop, steps):
        self.betas = [start * (stop / start) ** (i / (steps - 1)) for i in range(steps)]

    def __iter__(self):
        return iter(self.betas)


def anneal(glass, schedule, every):
    trail = []
    for i, beta in enumerate(schedule):
        rate = glass.sweep(tf.constant(beta, tf.float32))
        if i % every == 0:
            e = glass.energy().numpy()
            trail.append((beta, e.mean(), e.min(), float(rate)))
    return trail


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--replicas", type=int, default=16)
    parser.add_argument("--steps", type=int, default=60)
    args = parser.parse_args()
    glass = SpinGlass(args.side, args.replicas, seed=13)
    trail = anneal(glass, Schedule(0.15, 3.0, args.steps), every=args.steps // 4)
    for beta, mean, low, rate in trail:
        print("beta %.3f energy %.4f lowest %.4f accepted %.3f" % (beta, mean, low, rate))
    final = glass.energy().numpy()
    print("final %.4f %.4f" % (final.mean(), final.min()))


if __name__ == "__main__":
    main()
