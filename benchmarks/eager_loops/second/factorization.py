import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


U = tf.Variable(arr(2000, 24) * 0.1)
W = tf.Variable(arr(3000, 24) * 0.1)
bu = tf.Variable(tf.zeros(2000))
bi = tf.Variable(tf.zeros(3000))
vs = [U, W, bu, bi]
opt = keras.optimizers.Adagrad(0.05)
batches = [(ints(2000, 256), ints(3000, 256), arr(256)) for _ in range(6)]


def step(u, i, r):
    with tf.GradientTape() as tape:
        p = tf.reduce_sum(tf.gather(U, u) * tf.gather(W, i), 1) + tf.gather(bu, u) + tf.gather(bi, i)
        loss = tf.reduce_mean((p - r) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(200):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
