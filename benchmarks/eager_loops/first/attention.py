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


class Block(layers.Layer):
    def build(self, s):
        d = s[-1]
        self.q = self.add_weight(shape=(d, d))
        self.k = self.add_weight(shape=(d, d))
        self.v = self.add_weight(shape=(d, d))
        self.g = self.add_weight(shape=(d,), initializer="ones")
        self.ff = layers.Dense(d, activation="gelu")

    def norm(self, x):
        m = tf.reduce_mean(x, -1, keepdims=True)
        s = tf.math.reduce_std(x, -1, keepdims=True)
        return self.g * (x - m) / (s + 1e-5)

    def call(self, x):
        n = self.norm(x)
        q, k, v = n @ self.q, n @ self.k, n @ self.v
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8.0)
        x = x + a @ v
        return x + self.ff(self.norm(x))


model = keras.Sequential([layers.Input((24, 64)), Block(), Block(), layers.GlobalAveragePooling1D(), layers.Dense(5)])
opt = keras.optimizers.AdamW(1e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = [(arr(32, 24, 64), ints(5, 32)) for _ in range(8)]


def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    gs = tape.gradient(loss, model.trainable_variables)
    gs, _ = tf.clip_by_global_norm(gs, 1.0)
    opt.apply_gradients(zip(gs, model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(150):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
