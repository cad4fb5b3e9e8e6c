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


E = keras.Sequential([layers.Input((196,)), layers.Dense(128, activation="relu"), layers.Dense(32)])
D = keras.Sequential([layers.Input((16,)), layers.Dense(128, activation="relu"), layers.Dense(196)])
opt = keras.optimizers.Adam(1e-3)
V = E.trainable_variables + D.trainable_variables
batches = [(tf.sigmoid(arr(100, 196)),) for _ in range(6)]


def step(x):
    with tf.GradientTape() as tape:
        m, lv = tf.split(E(x, training=True), 2, axis=1)
        z = m + tf.exp(0.5 * lv) * tf.random.normal(tf.shape(m))
        logits = D(z, training=True)
        rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), 1)
        kl = -0.5 * tf.reduce_sum(1 + lv - m**2 - tf.exp(lv), 1)
        loss = tf.reduce_mean(rec + kl)
    opt.apply_gradients(zip(tape.gradient(loss, V), V, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(150):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
