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


P = keras.Sequential(
    [layers.Input((12,)), layers.Dense(96, activation="tanh"), layers.Dense(96, activation="tanh"), layers.Dense(5)]
)
V = keras.Sequential([layers.Input((12,)), layers.Dense(96, activation="tanh"), layers.Dense(1)])
po, vo = keras.optimizers.Adam(3e-4), keras.optimizers.Adam(1e-3)
batches = [(arr(256, 12), ints(5, 256), arr(256) * 0.1 - 1.6, arr(256), arr(256)) for _ in range(4)]


def step(s, a, old, adv, ret):
    with tf.GradientTape() as tape:
        lp = tf.reduce_sum(tf.nn.log_softmax(P(s)) * tf.one_hot(a, 5), 1)
        r = tf.exp(lp - old)
        loss = -tf.reduce_mean(tf.minimum(r * adv, tf.clip_by_value(r, 0.8, 1.2) * adv))
    po.apply_gradients(zip(tape.gradient(loss, P.trainable_variables), P.trainable_variables, strict=False))
    with tf.GradientTape() as tape:
        vl = tf.reduce_mean((V(s)[:, 0] - ret) ** 2)
    vo.apply_gradients(zip(tape.gradient(vl, V.trainable_variables), V.trainable_variables, strict=False))
    return loss + vl


if __name__ == "__main__":
    for i in range(60):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
