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


tokens = keras.Input((32,))
h = layers.Embedding(1000, 64)(tokens)
for _ in range(2):
    h = layers.LayerNormalization()(h + layers.MultiHeadAttention(4, 16)(h, h))
    h = layers.LayerNormalization()(h + layers.Dense(64)(layers.Dense(128, activation="relu")(h)))
model = keras.Model(tokens, layers.Dense(1000)(h))
opt = keras.optimizers.Adam(1e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = [(ints(1000, 16, 32), ints(1000, 16, 32)) for _ in range(4)]


def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(80):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
