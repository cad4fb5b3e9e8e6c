import keras
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


U = 48
wz = tf.Variable(arr(12 + U, U) * 0.1)
wr = tf.Variable(arr(12 + U, U) * 0.1)
wh = tf.Variable(arr(12 + U, U) * 0.1)
wo = tf.Variable(arr(U, 1) * 0.1)
vs = [wz, wr, wh, wo]
opt = keras.optimizers.RMSprop(1e-3)
batches = [(arr(32, 30, 12), arr(32, 1)) for _ in range(8)]


def step(x, y):
    with tf.GradientTape() as tape:
        h = tf.zeros((32, U))
        for t in range(30):
            xh = tf.concat([x[:, t], h], 1)
            z = tf.sigmoid(xh @ wz)
            r = tf.sigmoid(xh @ wr)
            c = tf.tanh(tf.concat([x[:, t], r * h], 1) @ wh)
            h = (1 - z) * h + z * c
        loss = tf.reduce_mean((h @ wo - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, vs), vs, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(100):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
