import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


w1 = tf.Variable(arr(16, 32) * 0.1)
w2 = tf.Variable(arr(32, 32) * 0.1)
w3 = tf.Variable(arr(32, 4) * 0.1)
vs = [w1, w2, w3]
opt = keras.optimizers.Adam(1e-2)
src, dst = ints(600, 3000), ints(600, 3000)
batches = [(arr(600, 16), ints(4, 600)) for _ in range(4)]


def spread(h):
    return tf.math.unsorted_segment_mean(tf.gather(h, src), dst, 600)


def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(spread(x) @ w1)
        h = tf.nn.relu(spread(h) @ w2)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, spread(h) @ w3))
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(60):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
