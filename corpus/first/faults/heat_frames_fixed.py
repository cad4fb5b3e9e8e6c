"""Heat equation on a plate; every frame is kept for a later animation."""
import os
import tempfile

import numpy as np
import tensorflow as tf

SIZE = 256


@tf.function
def advance(u, inner):
    for _ in tf.range(inner):
        lap = (tf.roll(u, 1, 0) + tf.roll(u, -1, 0) + tf.roll(u, 1, 1) + tf.roll(u, -1, 1) - 4.0 * u)
        u = u + 0.2 * lap
    return u


def initial():
    rng = np.random.default_rng(6)
    plate = np.zeros((SIZE, SIZE), "float32")
    for _ in range(20):
        a, b = rng.integers(20, SIZE - 20, size=2)
        plate[a - 8:a + 8, b - 8:b + 8] = 100.0
    return tf.constant(plate)


def store_frame(folder, number, u):
    name = os.path.join(folder, "frame_%05d" % number)
    np.save(name + ".npy", u.numpy())


u = initial()
inner = tf.constant(20)
with tempfile.TemporaryDirectory() as folder:
    for frame in range(150):
        u = advance(u, inner)
        store_frame(folder, frame, u)
    kept = len(os.listdir(folder))

print("frames", kept, "hottest %.3f total %.1f" % (float(tf.reduce_max(u)), float(tf.reduce_sum(u))))
