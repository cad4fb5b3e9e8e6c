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
        layers.Input((512,)),
        layers.Dense(1024, activation="relu"),
        layers.Dense(1024, activation="relu"),
        layers.Dense(100),
    ]
)
opt = keras.optimizers.SGD(1e-2)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = [(arr(256, 512), ints(100, 256)) for _ in range(8)]


def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(80):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
