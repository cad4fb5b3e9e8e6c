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
        layers.Input((784,)),
        layers.Dense(800, activation="relu"),
        layers.Dropout(0.4),
        layers.Dense(800, activation="relu"),
        layers.Dense(10),
    ]
)
opt = keras.optimizers.Adam(1e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = [(arr(64, 784), ints(10, 64)) for _ in range(4)]


def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(40):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
