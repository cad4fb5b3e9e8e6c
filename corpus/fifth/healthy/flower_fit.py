"""Small image classifier with augmentation in the pipeline."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

AUTO = tf.data.AUTOTUNE
rng = np.random.default_rng(0)
images = rng.integers(0, 255, (1536, 48, 48, 3), dtype=np.uint8)
labels = rng.integers(0, 5, len(images))


def augment(x, y):
    x = tf.cast(x, tf.float32) / 255.0
    x = tf.image.random_flip_left_right(x)
    return tf.image.random_brightness(x, 0.1), y


ds = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .shuffle(1536)
    .map(augment, num_parallel_calls=AUTO)
    .batch(64)
    .prefetch(AUTO)
)
model = tf.keras.Sequential(
    [
        tf.keras.Input((48, 48, 3)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(64, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(5),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(ds, epochs=3, verbose=2)
