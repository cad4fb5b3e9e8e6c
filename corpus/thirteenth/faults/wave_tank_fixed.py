"""Shallow wave tank: second-order wave equation with damping on a square grid, reflecting walls."""
import time

import numpy as np
import tensorflow as tf

N = 640
STEPS = 3000
C2 = 0.22
DAMP = 0.0008
REPORT = 500


def drop(n, cy, cx, width):
    y, x = np.mgrid[0:n, 0:n].astype("float32")
    return np.exp(-((y - cy) ** 2 + (x - cx) ** 2) / (2 * width ** 2)).astype("float32")


def laplacian(u):
    p = tf.pad(u, [[1, 1], [1, 1]], mode="SYMMETRIC")
    s = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return s - 4.0 * u


@tf.function
def advance(u, v, bottom, steps):
    for _ in tf.range(steps):
        acc = C2 * bottom * laplacian(u) - DAMP * v
        v = v + acc
        u = u + v
    return u, v


@tf.function
def energy(u, v):
    gx = u[:, 1:] - u[:, :-1]
    gy = u[1:, :] - u[:-1, :]
    pot = 0.5 * C2 * (tf.reduce_sum(gx * gx) + tf.reduce_sum(gy * gy))
    return 0.5 * tf.reduce_sum(v * v), pot


def main():
    u = tf.constant(drop(N, N * 0.3, N * 0.4, 9.0) - 0.6 * drop(N, N * 0.7, N * 0.55, 14.0))
    v = tf.zeros_like(u)
    # a shoal in the middle slows the wave down
    bottom = tf.constant(1.0 - 0.5 * drop(N, N / 2, N / 2, 60.0))

    t0 = time.time()
    done = 0
    while done < STEPS:
        u, v = advance(u, v, bottom, tf.constant(REPORT))
        done += REPORT
        kin, pot = energy(u, v)
        print(f"t={done:5d}  kinetic {float(kin):9.4f}  potential {float(pot):9.4f}  "
              f"max {float(tf.reduce_max(tf.abs(u))):.4f}  [{time.time() - t0:.1f}s]")

    gauge = u.numpy()[N // 2, :: N // 8]
    print("gauges:", np.round(gauge, 4))


if __name__ == "__main__":
    main()
