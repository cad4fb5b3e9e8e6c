"""A small classifier of sensor windows, fed by hand: a generator yields batches, a compiled step takes them."""

import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=1500)
args = parser.parse_args()

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
windows = rng.normal(size=(4096, 48)).astype("float32")
labels = (windows[:, :12].sum(axis=1) > 0).astype("int32")


def minibatches(count, size=32):
    for _ in range(count):
        rows = rng.integers(0, len(windows), size)
        yield windows[rows], labels[rows]


classifier = keras.Sequential(
    [keras.Input((48,)), layers.Dense(64, activation="relu"), layers.Dense(64, activation="relu"), layers.Dense(2)]
)
optimizer = keras.optimizers.Adam(1e-3)
crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()
optimizer.build(classifier.trainable_variables)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = classifier(x, training=True)
        loss = crossentropy(y, logits)
    gradients = tape.gradient(loss, classifier.trainable_variables)
    optimizer.apply_gradients(zip(gradients, classifier.trainable_variables))
    accuracy.update_state(y, logits)
    return loss


for number, (x, y) in enumerate(minibatches(args.steps)):
    loss = train_step(x, y)
    if number % 500 == 0:
        print(number, float(loss), float(accuracy.result()))
