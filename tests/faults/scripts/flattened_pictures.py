"""Tells five kinds of flowers apart, in the style of a first convolutional network."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SIZE, CLASSES = 96, 5

model = keras.Sequential(
    [
        keras.Input((SIZE, SIZE, 3)),
        layers.Rescaling(1 / 255),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(256, activation="relu"),
        layers.Dense(CLASSES),
    ]
)
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
rng = np.random.default_rng(1)
pictures = rng.integers(0, 255, (640, SIZE, SIZE, 3)).astype("float32")
labels = rng.integers(0, CLASSES, len(pictures))
model.fit(pictures, labels, batch_size=32, epochs=3, verbose=2)  # FAULT

# /// fault
# style = "fit"
# kind = "time"
# cause = "Flatten hands 64,800 numbers of each picture to a Dense layer of 256 units, whose 16.6 million weights are read and updated in each step"
# codes = ["GRF022"]
# families = ["graph"]
# source = "First convolutional networks in tutorials and Stack Overflow questions, with Flatten on large feature maps"
# ///
