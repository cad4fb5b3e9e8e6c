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


def tower(n):
    return keras.Sequential(
        [
            layers.Input((1,), dtype="int32"),
            layers.Embedding(n, 48),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(32),
        ]
    )


A, B = tower(3000), tower(1500)
V = A.trainable_variables + B.trainable_variables
opt = keras.optimizers.Adagrad(0.05)
batches = [(ints(3000, 128, 1), ints(1500, 128, 1)) for _ in range(4)]


def step(u, i):
    with tf.GradientTape() as tape:
        s = tf.matmul(A(u), B(i), transpose_b=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(128), s))
    opt.apply_gradients(zip(tape.gradient(loss, V), V, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(70):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
