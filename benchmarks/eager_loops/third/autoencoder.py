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


model = keras.Sequential(
    [
        layers.Input((24, 24, 1)),
        layers.Conv2D(12, 3, strides=2, padding="same", activation="elu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="elu"),
        layers.Conv2DTranspose(12, 3, strides=2, padding="same", activation="elu"),
        layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
    ]
)
opt = keras.optimizers.Nadam(1e-3)
batches = [(arr(40, 24, 24, 1),) for _ in range(5)]


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(model(x, training=True) - x))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(70):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
