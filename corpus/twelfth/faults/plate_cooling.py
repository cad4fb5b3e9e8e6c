"""Cooling of a square plate with patchy conductivity, backward Euler in time.

Written in TensorFlow since the result later feeds a differentiable design loop.
No network, no training in here.
"""
import time

import numpy as np
import tensorflow as tf

M = 28                 # interior nodes per side
N = M * M
DT = 2e-4
STEPS_PER_CALL = 60
CALLS = 24
H = 1.0 / (M + 1)


def conductivity(seed=4):
    rng = np.random.default_rng(seed)
    k = 1.0 + 4.0 * (rng.random((M + 2, M + 2)) > 0.7)
    return k


def stiffness(k):
    """Five-point flux operator with harmonic means, zero temperature at the rim."""
    a = np.zeros((N, N))
    for i in range(M):
        for j in range(M):
            row = i * M + j
            ci = k[i + 1, j + 1]
            for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                cn = k[i + 1 + di, j + 1 + dj]
                face = 2 * ci * cn / (ci + cn) / H ** 2
                a[row, row] += face
                ii, jj = i + di, j + dj
                if 0 <= ii < M and 0 <= jj < M:
                    a[row, ii * M + jj] -= face
    return a


def initial_state():
    g = np.linspace(H, 1 - H, M)
    x, y = np.meshgrid(g, g)
    t = 300 * np.exp(-((x - 0.4) ** 2 + (y - 0.6) ** 2) / 0.02)
    return tf.constant(t.reshape(N, 1), tf.float64)


class Plate:
    def __init__(self):
        a = stiffness(conductivity())
        self.system = tf.constant(np.eye(N) + DT * a, tf.float64)
        src = np.zeros((N, 1))
        src[N // 3 : N // 3 + 4] = 2000.0
        self.source = tf.constant(src, tf.float64)

    @tf.function
    def advance(self, u, n):
        for _ in tf.range(n):
            rhs = u + DT * self.source
            u = tf.linalg.solve(self.system, rhs)
        return u


def main():
    plate = Plate()
    u = initial_state()
    n = tf.constant(STEPS_PER_CALL)
    t0 = time.time()
    for c in range(CALLS):
        u = plate.advance(u, n)
        print("t = %.4f  max %.3f  mean %.4f   (%.1f s)" % (
            (c + 1) * STEPS_PER_CALL * DT, float(tf.reduce_max(u)),
            float(tf.reduce_mean(u)), time.time() - t0), flush=True)


if __name__ == "__main__":
    main()
