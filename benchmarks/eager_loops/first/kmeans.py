import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


x = arr(2000, 8)
c0 = x[:16]
batches = [(c0,)]


def step(c):
    for _ in range(3):
        d = tf.reduce_sum((x[:, None] - c[None]) ** 2, -1)
        a = tf.argmin(d, 1)
        c = tf.math.unsorted_segment_mean(x, a, 16)
    return tf.reduce_sum(c)


if __name__ == "__main__":
    for i in range(300):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
