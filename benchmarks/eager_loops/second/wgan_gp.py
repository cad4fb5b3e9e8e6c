import keras
import numpy as np
import tensorflow as tf
from keras import layers

rng = np.random.default_rng(0)
tf.random.set_seed(0)


def arr(*s):
    return tf.constant(rng.normal(size=s).astype("float32"))


def ints(n, *s):
    return tf.constant(rng.integers(0, n, size=s))


C = keras.Sequential(
    [layers.Input((64,)), layers.Dense(128), layers.LeakyReLU(), layers.Dense(128), layers.LeakyReLU(), layers.Dense(1)]
)
opt = keras.optimizers.Adam(1e-4)
batches = [(arr(64, 64), arr(64, 64)) for _ in range(6)]


def step(r, f):
    with tf.GradientTape() as tape:
        e = tf.random.uniform((64, 1))
        x = e * r + (1 - e) * f
        with tf.GradientTape() as inner:
            inner.watch(x)
            s = C(x, training=True)
        g = inner.gradient(s, x)
        gp = tf.reduce_mean((tf.norm(g, axis=1) - 1) ** 2)
        loss = tf.reduce_mean(C(f, training=True)) - tf.reduce_mean(C(r, training=True)) + 10 * gp
    opt.apply_gradients(zip(tape.gradient(loss, C.trainable_variables), C.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(100):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
