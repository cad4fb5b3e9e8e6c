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


F = keras.Sequential(
    [
        layers.Input((48, 48, 3)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(48, 3, strides=2, activation="relu"),
    ]
)
F.trainable = False
image = tf.Variable(arr(1, 48, 48, 3))
goal = arr(1, 48, 48, 3)
opt = keras.optimizers.Adam(0.02)


def gram(t):
    t = tf.reshape(t, (-1, 48))
    return tf.matmul(t, t, transpose_a=True) / tf.cast(tf.shape(t)[0], tf.float32)


batches = [(goal,)]


def step(g):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((gram(F(image)) - gram(F(g))) ** 2) + 1e-4 * tf.reduce_sum(
            tf.image.total_variation(image)
        )
    opt.apply_gradients([(tape.gradient(loss, image), image)])
    image.assign(tf.clip_by_value(image, -3.0, 3.0))
    return loss


if __name__ == "__main__":
    for i in range(60):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
