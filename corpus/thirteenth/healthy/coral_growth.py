"""Gray-Scott reaction-diffusion ("coral growth" parameters), compiled."""
import argparse
import time
import numpy as np
import tensorflow as tf

p = argparse.ArgumentParser()
p.add_argument("--size", type=int, default=512)
p.add_argument("--steps", type=int, default=6000)
p.add_argument("--feed", type=float, default=0.0545)
p.add_argument("--kill", type=float, default=0.062)
opt = p.parse_args()

DU, DV = 0.16, 0.08


def start(n):
    rng = np.random.default_rng(10)
    u = np.ones((n, n), "float32")
    v = np.zeros((n, n), "float32")
    for _ in range(40):
        y, x = rng.integers(8, n - 8, 2)
        u[y - 4:y + 4, x - 4:x + 4] = 0.5
        v[y - 4:y + 4, x - 4:x + 4] = 0.25
    v += rng.random((n, n), dtype=np.float32) * 0.02
    return tf.constant(u), tf.constant(v)


def lap(p, c):
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * c


def wrap(a):
    a = tf.concat([a[-1:], a, a[:1]], axis=0)
    return tf.concat([a[:, -1:], a, a[:, :1]], axis=1)


@tf.function
def grow(u, v, steps, feed, kill):
    def body(i, u, v):
        uvv = u * v * v
        du = DU * lap(wrap(u), u) - uvv + feed * (1.0 - u)
        dv = DV * lap(wrap(v), v) + uvv - (feed + kill) * v
        return i + 1, u + du, v + dv

    _, u, v = tf.while_loop(lambda i, *_: i < steps, body, (0, u, v))
    return u, v


u, v = start(opt.size)
t = time.time()
chunk = opt.steps // 5
for k in range(5):
    u, v = grow(u, v, tf.constant(chunk), tf.constant(opt.feed), tf.constant(opt.kill))
    cover = tf.reduce_mean(tf.cast(v > 0.15, tf.float32))
    print(f"step {(k + 1) * chunk}: covered {float(cover):.4f}, {time.time() - t:.1f}s")
print("mean u, v:", round(float(tf.reduce_mean(u)), 5), round(float(tf.reduce_mean(v)), 5))
