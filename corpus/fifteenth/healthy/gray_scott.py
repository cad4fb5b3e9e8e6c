# Gray-Scott reaction-diffusion on a periodic grid, a few parameter sets at once.
import numpy as np
import tensorflow as tf

SIDE = 192
STEPS = 32_000
FEED = np.array([0.035, 0.030, 0.025], "float32")
KILL = np.array([0.062, 0.057, 0.056], "float32")


def laplacian(f):
    return (tf.roll(f, 1, 1) + tf.roll(f, -1, 1) + tf.roll(f, 1, 2) + tf.roll(f, -1, 2) - 4.0 * f)


@tf.function(jit_compile=True)
def advance(u, v, feed, kill, steps):
    for _ in tf.range(steps):
        uvv = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - uvv + feed * (1.0 - u),
            v + 0.08 * laplacian(v) + uvv - (feed + kill) * v,
        )
    return u, v


def start_state():
    rng = np.random.default_rng(6)
    u = np.ones((len(FEED), SIDE, SIDE), "float32")
    v = np.zeros_like(u)
    mid = slice(SIDE // 2 - 12, SIDE // 2 + 12)
    u[:, mid, mid], v[:, mid, mid] = 0.5, 0.25
    v += rng.uniform(0, 0.02, v.shape).astype("float32")
    return tf.constant(u), tf.constant(v)


u, v = start_state()
feed, kill = (tf.constant(a[:, None, None]) for a in (FEED, KILL))
for epoch in range(4):
    u, v = advance(u, v, feed, kill, tf.constant(STEPS // 4))
    cover = tf.reduce_mean(tf.cast(v > 0.2, tf.float32), axis=[1, 2]).numpy()
    print(f"step {(epoch + 1) * STEPS // 4:5d}  covered", np.round(cover, 4))
print("mass", np.round(tf.reduce_sum(v, axis=[1, 2]).numpy(), 2))
