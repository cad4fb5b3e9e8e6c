"""Star cluster collapse: direct-sum N-body, kick-drift-kick leapfrog."""
import numpy as np
import tensorflow as tf

N, DT, SOFTENING = 220, 0.002, 0.03


def plummer(n, seed):
    rng = np.random.default_rng(seed)
    r = (rng.uniform(0.02, 0.98, n) ** (-2.0 / 3.0) - 1.0) ** -0.5
    direction = rng.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    pos = np.minimum(r, 6.0)[:, None] * direction
    vel = 0.25 * rng.normal(size=(n, 3)) * (1.0 + pos[:, :1] ** 2) ** -0.25
    return pos - pos.mean(axis=0), vel - vel.mean(axis=0)


def acceleration(pos, mass):
    sq = tf.reduce_sum(pos ** 2, axis=1)
    d2 = sq[:, None] + sq[None, :] - 2.0 * tf.matmul(pos, pos, transpose_b=True) + SOFTENING ** 2
    w = mass[None, :] * tf.math.rsqrt(d2) / d2
    return tf.matmul(w, pos) - pos * tf.reduce_sum(w, axis=1, keepdims=True)


@tf.function
def energy(pos, vel, mass):
    d = tf.norm(pos[:, None] - pos[None], axis=-1)
    potential = -0.5 * tf.reduce_sum(mass[:, None] * mass[None] / tf.sqrt(d ** 2 + SOFTENING ** 2))
    potential += 0.5 * tf.reduce_sum(mass ** 2) / SOFTENING
    return 0.5 * tf.reduce_sum(mass[:, None] * vel ** 2), potential


@tf.function
def advance(pos, vel, mass, steps):
    acc = acceleration(pos, mass)
    for _ in tf.range(steps):
        vel += 0.5 * DT * acc
        pos += DT * vel
        acc = acceleration(pos, mass)
        vel += 0.5 * DT * acc
    return pos, vel


def main():
    pos, vel = plummer(N, seed=4)
    pos, vel = tf.constant(pos), tf.constant(vel)
    mass = tf.fill([N], tf.constant(1.0 / N, tf.float64))
    radii = []
    for snapshot in range(10):
        pos, vel = advance(pos, vel, mass, tf.constant(700))
        kinetic, potential = energy(pos, vel, mass)
        radii.append(np.median(np.linalg.norm(pos.numpy(), axis=1)))
        if snapshot % 3 == 0:
            print("t=%.2f  E=%.6f  half-mass radius %.5f" % (
                (snapshot + 1) * 700 * DT, float(kinetic + potential), radii[-1]))


if __name__ == "__main__":
    main()
