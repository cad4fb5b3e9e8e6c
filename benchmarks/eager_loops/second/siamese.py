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
    [
        layers.Input((32, 32, 3)),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.Conv2D(48, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32),
    ]
)
opt = keras.optimizers.RMSprop(1e-3)
batches = [(arr(24, 32, 32, 3), arr(24, 32, 32, 3), tf.cast(ints(2, 24), tf.float32)) for _ in range(4)]


def step(a, b, same):
    with tf.GradientTape() as tape:
        d = tf.norm(net(a, training=True) - net(b, training=True) + 1e-6, axis=1)
        loss = tf.reduce_mean(same * d**2 + (1 - same) * tf.maximum(1.0 - d, 0.0) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(120):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
