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


G = keras.Sequential(
    [
        layers.Input((32,)),
        layers.Dense(7 * 7 * 32),
        layers.LeakyReLU(),
        layers.Reshape((7, 7, 32)),
        layers.Conv2DTranspose(16, 4, strides=2, padding="same", activation="relu"),
        layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
    ]
)
D = keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(16, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Conv2D(32, 4, strides=2, padding="same"),
        layers.LeakyReLU(),
        layers.Flatten(),
        layers.Dense(1),
    ]
)
go, do = keras.optimizers.Adam(1e-4), keras.optimizers.Adam(1e-4)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
batches = [(arr(32, 28, 28, 1),) for _ in range(8)]


def step(real):
    z = tf.random.normal((32, 32))
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = G(z, training=True)
        r = D(real, training=True)
        f = D(fake, training=True)
        gl = bce(tf.ones_like(f), f)
        dl = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    go.apply_gradients(zip(gt.gradient(gl, G.trainable_variables), G.trainable_variables, strict=False))
    do.apply_gradients(zip(dt.gradient(dl, D.trainable_variables), D.trainable_variables, strict=False))
    return gl + dl


if __name__ == "__main__":
    for i in range(120):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
