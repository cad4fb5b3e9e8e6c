"""Gray-Scott reaction diffusion on a periodic grid, everything inside tf.function."""
import time

import numpy as np
import tensorflow as tf

SIZE = 512
FEED, KILL = 0.037, 0.06
DU, DV = 0.16, 0.08
CHUNK, CHUNKS = 250, 24


def lap(z):
    return (tf.roll(z, 1, 0) + tf.roll(z, -1, 0) + tf.roll(z, 1, 1) + tf.roll(z, -1, 1) - 4.0 * z)


@tf.function(jit_compile=False)
def run(u, v, n):
    for _ in tf.range(n):
        uvv = u * v * v
        u, v = (u + DU * lap(u) - uvv + FEED * (1.0 - u),
                v + DV * lap(v) + uvv - (FEED + KILL) * v)
    return u, v


def start():
    rng = np.random.default_rng(10)
    u, v = np.ones((SIZE, SIZE), "float32"), np.zeros((SIZE, SIZE), "float32")
    for _ in range(40):
        r, c = rng.integers(0, SIZE - 20, 2)
        u[r : r + 16, c : c + 16], v[r : r + 16, c : c + 16] = 0.5, 0.25
    v += 0.02 * rng.random(v.shape).astype("float32")
    return tf.constant(u), tf.constant(v)


def spots(v, level=0.15):
    """Rough number of spots: local maxima on a 9x9 neighbourhood."""
    z = v[None, :, :, None]
    peak = tf.nn.max_pool2d(z, 9, 1, "SAME")
    return int(tf.reduce_sum(tf.cast((z == peak) & (z > level), tf.int32)))


def spectrum_peak(v):
    """Dominant wave number along the rows."""
    f = np.abs(np.fft.rfft(v.numpy() - v.numpy().mean(), axis=1)).mean(axis=0)
    return int(f[1:].argmax() + 1)


u, v = start()
print("grid", u.shape, "spots at the start", spots(v))
t0 = time.time()
for k in range(1, CHUNKS + 1):
    u, v = run(u, v, tf.constant(CHUNK))
    print("iteration %5d  mean v %.5f  std v %.5f  %.1f s" % (
        k * CHUNK, float(tf.reduce_mean(v)), float(tf.math.reduce_std(v)), time.time() - t0),
        flush=True)
print("spots at the end", spots(v), "dominant wave number", spectrum_peak(v))
assert np.isfinite(v.numpy()).all()
