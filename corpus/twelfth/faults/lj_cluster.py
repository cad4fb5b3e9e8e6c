# Lowest-energy structure of a small Lennard-Jones cluster by annealed Langevin dynamics.
# Usage: python lj_cluster.py [n_atoms] [n_temperatures]
import sys
import time
import numpy as np
import tensorflow as tf

N_ATOMS = int(sys.argv[1]) if len(sys.argv) > 1 else 19
N_TEMPS = int(sys.argv[2]) if len(sys.argv) > 2 else 80
REPLICAS = 8
INNER = 6
DT = 2e-3
GAMMA = 4.0


def energy(x):
    """x: (replicas, atoms, 3) -> (replicas,)"""
    d = x[:, :, None, :] - x[:, None, :, :]
    r2 = tf.reduce_sum(d * d, axis=-1) + 1e3 * tf.eye(tf.shape(x)[1])
    inv6 = 1.0 / tf.maximum(r2, 0.3) ** 3
    pair = 4.0 * (inv6 * inv6 - inv6)
    trap = 0.02 * tf.reduce_sum(x * x, axis=[1, 2])
    return 0.5 * tf.reduce_sum(pair, axis=[1, 2]) + trap


def forces(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        e = energy(x)
    return -tf.clip_by_value(tape.gradient(e, x), -200.0, 200.0)


@tf.function
def langevin(x, v, temperature, seed):
    kick = tf.sqrt(2.0 * GAMMA * temperature * DT)
    for i in tf.range(INNER):
        v = v + 0.5 * DT * forces(x)
        x = x + 0.5 * DT * v
        noise = tf.random.stateless_normal(tf.shape(v), tf.stack([seed, i]))
        v = v * (1.0 - GAMMA * DT) + kick * noise
        x = x + 0.5 * DT * v
        v = v + 0.5 * DT * forces(x)
        x = x - tf.reduce_mean(x, axis=1, keepdims=True)
    return x, v, energy(x)


def schedule(hot, cold, n):
    return [hot * (cold / hot) ** (i / (n - 1)) for i in range(n)]


def main():
    rng = np.random.default_rng(17)
    side = int(np.ceil(N_ATOMS ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)[:N_ATOMS] * 1.15
    x0 = grid[None] + 0.05 * rng.normal(size=(REPLICAS, N_ATOMS, 3))
    x = tf.constant(x0 - x0.mean(axis=1, keepdims=True), tf.float32)
    v = tf.zeros_like(x)

    best = np.inf
    t0 = time.time()
    for k, temperature in enumerate(schedule(0.8, 0.01, N_TEMPS)):
        x, v, e = langevin(x, v, temperature, tf.constant(k))
        best = min(best, float(tf.reduce_min(e)))
        if k % 10 == 9:
            print("T=%.4f  mean E %.3f  best %.3f  %.1fs" % (
                temperature, float(tf.reduce_mean(e)), best, time.time() - t0), flush=True)
    print("best energy", round(best, 2))


main()
