"""Train a small classifier on a folder of PNG files."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

folder = tempfile.mkdtemp()
rng = np.random.default_rng(0)
paths, labels = [], []
for i in range(160):
    image = rng.integers(0, 255, (96, 96, 3), dtype=np.uint8)
    path = os.path.join(folder, f"img_{i:04d}.png")
    tf.io.write_file(path, tf.io.encode_png(image))
    paths.append(path)
    labels.append(i % 5)


def load(path, label):
    image = tf.io.decode_png(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (128, 128), method="bicubic")
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.2)
    image = tf.image.random_saturation(image / 255.0, 0.6, 1.4)
    image = tf.image.random_hue(tf.clip_by_value(image, 0.0, 1.0), 0.1)
    return tf.image.random_crop(image, (64, 64, 3)), label


train = (
    tf.data.Dataset.from_tensor_slices((paths, labels))
    .shuffle(160)
    .repeat()
    .map(load)  # FAULT
    .batch(16)
    .prefetch(tf.data.AUTOTUNE)
)

model = keras.Sequential(
    [
        keras.Input((64, 64, 3)),
        layers.Conv2D(8, 5, strides=4, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(5, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(train, steps_per_epoch=50, epochs=4, verbose=2)
print("final loss", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "The map that decodes and augments each image has no num_parallel_calls, so one core prepares the batches"
# codes = ["INP003", "INP001"]
# families = ["input"]
# source = "GitHub, keras-team/keras #15191 and tensorflow/models #10214 'Performance issues in the program' (map without num_parallel_calls); class 'efficient API not used' of arXiv 2112.01771"
# ///
