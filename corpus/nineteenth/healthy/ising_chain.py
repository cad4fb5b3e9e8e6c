"""Checkerboard Metropolis sampling of the 2-d Ising model at several temperatures."""
import argparse

import numpy as np
import tensorflow as tf


def neighbours(s):
    return sum(tf.roll(s, shift, axis) for shift in (1, -1) for axis in (1, 2))


@tf.function
def sweeps(spins, beta, mask, n, seed):
    magnetisation = tf.zeros_like(beta)
    for i in tf.range(n):
        for colour in (0, 1):
            key = tf.stack([seed, 2 * i + colour])
            u = tf.random.stateless_uniform(tf.shape(spins), key)
            flip = u < tf.exp(-2.0 * beta[:, None, None] * spins * neighbours(spins))
            spins = tf.where(flip & (mask == colour), -spins, spins)
        magnetisation += tf.abs(tf.reduce_mean(spins, [1, 2]))
    return spins, magnetisation / tf.cast(n, tf.float32)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--sweeps", type=int, default=500)
    args = parser.parse_args()
    temperatures = np.linspace(1.6, 3.4, 10).astype(np.float32)
    rng = np.random.RandomState(0)
    spins = tf.constant(rng.choice([-1.0, 1.0], (10, args.size, args.size)), tf.float32)
    grid = np.indices((args.size, args.size)).sum(0) % 2
    beta, mask = tf.constant(1 / temperatures), tf.constant(grid[None])
    for block in range(3):
        spins, m = sweeps(spins, beta, mask, tf.constant(args.sweeps // 3), tf.constant(block))
    for t, v in zip(temperatures, m.numpy()):
        print("T %.2f  |m| %.3f" % (t, v))


if __name__ == "__main__":
    main()
