"""Gray-Scott reaction-diffusion with a machine-load line after each block of steps."""
import os

import numpy as np
import tensorflow as tf

N = 192


def laplacian(a):
    return tf.roll(a, 1, 0) + tf.roll(a, -1, 0) + tf.roll(a, 1, 1) + tf.roll(a, -1, 1) - 4.0 * a


@tf.function
def block(u, v, steps):
    for _ in tf.range(steps):
        uvv = u * v * v
        u, v = (u + 0.16 * laplacian(u) - uvv + 0.035 * (1.0 - u),
                v + 0.08 * laplacian(v) + uvv - 0.1 * v)
    return u, v


def machine_load():
    return "%.2f %.2f %.2f" % os.getloadavg()


def main():
    rng = np.random.default_rng(90)
    u = np.ones((N, N), "float32")
    v = np.zeros((N, N), "float32")
    u[80:112, 80:112], v[80:112, 80:112] = 0.5, 0.25
    u, v = tf.constant(u + 0.02 * rng.random((N, N), dtype=np.float32)), tf.constant(v)
    notes = []
    for k in range(190):
        u, v = block(u, v, tf.constant(40))
        notes.append((k, machine_load()))
    print("blocks", len(notes), "u %.5f v %.5f" % (float(tf.reduce_mean(u)), float(tf.reduce_mean(v))))


main()
