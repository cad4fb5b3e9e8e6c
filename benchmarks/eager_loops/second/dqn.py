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


def net():
    return keras.Sequential(
        [
            layers.Input((16,)),
            layers.Dense(128, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(6),
        ]
    )


Q, T = net(), net()
opt = keras.optimizers.Adam(1e-3)
huber = keras.losses.Huber()
batches = [(arr(64, 16), ints(6, 64), arr(64), arr(64, 16), tf.cast(ints(2, 64), tf.float32)) for _ in range(6)]


def step(s, a, r, s2, done):
    target = r + 0.99 * (1 - done) * tf.reduce_max(T(s2), axis=1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(Q(s) * tf.one_hot(a, 6), axis=1)
        loss = huber(target, q)
    opt.apply_gradients(zip(tape.gradient(loss, Q.trainable_variables), Q.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(200):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
