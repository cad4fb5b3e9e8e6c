import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


w = tf.Variable(arr(20, 1))
b = tf.Variable(0.0)
batches = [(arr(32, 20), arr(32, 1)) for _ in range(8)]


def step(x, y):
    with tf.GradientTape() as tape:
        p = tf.sigmoid(x @ w + b)
        t = tf.cast(y > 0, tf.float32)
        loss = -tf.reduce_mean(t * tf.math.log(p + 1e-7) + (1 - t) * tf.math.log(1 - p + 1e-7))
        loss = loss + 1e-3 * tf.reduce_sum(w**2)
    gw, gb = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * gw)
    b.assign_sub(0.1 * gb)
    return loss


if __name__ == "__main__":
    for i in range(400):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
