# Brownian dynamics of a small colloidal cluster (soft repulsion + harmonic trap).
# Writes the mean squared displacement and the radial density at the end.
import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--particles", type=int, default=32)
parser.add_argument("--steps", type=int, default=5000)
parser.add_argument("--dt", type=float, default=2e-4)
parser.add_argument("--temperature", type=float, default=0.4)
parser.add_argument("--trap", type=float, default=1.5)
parser.add_argument("--seed", type=int, default=3)
args = parser.parse_args()

N = args.particles
DT = tf.constant(args.dt)
NOISE = tf.constant(np.sqrt(2.0 * args.temperature * args.dt), tf.float32)
TRAP = tf.constant(args.trap)
DIAG = tf.eye(N)


def pair_forces(pos):
    delta = pos[:, None, :] - pos[None, :, :]
    dist2 = tf.reduce_sum(delta * delta, axis=-1) + DIAG
    strength = tf.exp(-dist2) * (1.0 - DIAG)
    return tf.reduce_sum(strength[:, :, None] * delta, axis=1) * 8.0


def wall_forces(pos):
    radius = tf.norm(pos, axis=-1, keepdims=True)
    overlap = tf.nn.relu(radius - 3.0)
    return -50.0 * overlap * pos / (radius + 1e-6)


def step(pos, index):
    seed = tf.stack([tf.constant(args.seed), index])
    kick = tf.random.stateless_normal([N, 2], seed)
    force = pair_forces(pos) - TRAP * pos + wall_forces(pos)
    return pos + DT * force + NOISE * kick


@tf.function
def run(pos, steps):
    origin = pos
    msd = tf.constant(0.0)
    for i in tf.range(steps):
        pos = step(pos, i)
        msd += tf.reduce_mean(tf.reduce_sum(tf.square(pos - origin), axis=-1))
    return pos, msd / tf.cast(steps, tf.float32)


def main():
    start = tf.constant(
        np.random.default_rng(args.seed).normal(0, 1, (N, 2)).astype("float32")
    )
    final, msd = run(start, tf.constant(args.steps))
    radius = np.linalg.norm(final.numpy(), axis=1)
    hist, edges = np.histogram(radius, bins=6, range=(0, 3))
    print("time averaged msd", round(float(msd), 3))
    for count, left in zip(hist, edges):
        print(f"  r >= {left:.1f}: {count}")


if __name__ == "__main__":
    main()
