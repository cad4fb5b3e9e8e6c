"""A small classifier of sensor windows, fed by hand: a generator yields batches, train_on_batch takes them."""

import argparse

import keras
import numpy as np
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
classifier.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

for number, (x, y) in enumerate(minibatches(args.steps)):
    loss, accuracy = classifier.train_on_batch(x, y)  # FAULT
    if number % 500 == 0:
        print(number, float(loss), float(accuracy))

# /// fault
# style = "custom"
# kind = "time"
# cause = "train_on_batch is called for every small batch, and Keras' Python around it takes as long as the update"
# codes = ["EAG014"]
# families = ["eager"]
# source = "GitHub, fchollet/deep-learning-models #114 'Why keras is slower' (a thousand calls of train_on_batch against a loop of one's own)"
# ///
