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


net = keras.Sequential(
    [layers.Input((1,))] + [layers.Dense(32, activation="tanh") for _ in range(3)] + [layers.Dense(1)]
)
opt = keras.optimizers.Adam(1e-3)
batches = [(arr(256, 1),) for _ in range(8)]


def step(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                u = net(x)
            du = t1.gradient(u, x)
        ddu = t2.gradient(du, x)
        loss = tf.reduce_mean((ddu + tf.sin(x)) ** 2) + tf.reduce_mean(net(tf.zeros((1, 1))) ** 2)
    opt.apply_gradients(zip(outer.gradient(loss, net.trainable_variables), net.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(100):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
