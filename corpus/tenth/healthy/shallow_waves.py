"""2-D wave equation with absorbing borders, run in TensorFlow (after the classic PDE tutorial)."""
import numpy as np
import tensorflow as tf

N = 768
STEPS = 12000
BLOCK = 2000
C, DT = 0.5, 0.7


def sponge(n, width=24, strength=0.06):
    ramp = np.zeros(n, "float32")
    edge = (np.arange(width, 0, -1) / width) ** 2 * strength
    ramp[:width] = edge
    ramp[-width:] = edge[::-1]
    return np.maximum(ramp[:, None], ramp[None, :])


def initial_field(n, drops, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:n, 0:n].astype("float32")
    u = np.zeros((n, n), "float32")
    for _ in range(drops):
        r, c = rng.uniform(0.2 * n, 0.8 * n, 2)
        u += rng.uniform(0.5, 1.0) * np.exp(-((yy - r) ** 2 + (xx - c) ** 2) / 18.0)
    return u


def laplacian(u):
    p = tf.pad(u, [[1, 1], [1, 1]], mode="SYMMETRIC")
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * u


DAMP = tf.constant(1.0 - sponge(N))


@tf.function(jit_compile=True)
def advance(u, v, steps):
    for _ in tf.range(steps):
        v = (v + DT * C * C * laplacian(u)) * DAMP
        u = (u + DT * v) * DAMP
    return u, v


@tf.function(jit_compile=True)
def energy(u, v):
    gy = u[1:, :] - u[:-1, :]
    gx = u[:, 1:] - u[:, :-1]
    potential = tf.reduce_sum(gy * gy) + tf.reduce_sum(gx * gx)
    return 0.5 * tf.reduce_sum(v * v) + 0.5 * C * C * potential


def main():
    u = tf.constant(initial_field(N, drops=12, seed=0))
    v = tf.zeros_like(u)
    block = tf.constant(BLOCK)
    print(f"step {0:5d}  energy {float(energy(u, v)):.4f}")
    for done in range(BLOCK, STEPS + 1, BLOCK):
        u, v = advance(u, v, block)
        print(f"step {done:5d}  energy {float(energy(u, v)):.4f}  max {float(tf.reduce_max(u)):.4f}")


if __name__ == "__main__":
    main()
