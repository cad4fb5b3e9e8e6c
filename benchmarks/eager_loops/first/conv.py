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
        layers.Input((28, 28, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(10),
    ]
)
opt = keras.optimizers.Adam(1e-3)
ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
batches = [(arr(32, 28, 28, 1), ints(10, 32)) for _ in range(8)]


def step(x, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model(x, training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=False))
    return loss


if __name__ == "__main__":
    for i in range(150):
        loss = step(*batches[i % len(batches)])
    print(float(loss))
