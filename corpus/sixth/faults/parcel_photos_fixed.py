"""Classifies parcel photographs; train, validation and test parts are cut with take and skip."""

import numpy as np
import tensorflow as tf

COUNT, SIZE, BATCH = 600, 64, 16


def photo_bytes():
    rng = np.random.default_rng(0)
    out = []
    for _ in range(COUNT):
        picture = tf.image.resize(rng.integers(0, 255, (24, 24, 3)), (360, 480))
        out.append(tf.io.encode_jpeg(tf.cast(picture, tf.uint8)).numpy())
    return out, rng.integers(0, 5, COUNT)


def decode(data, label):
    image = tf.io.decode_jpeg(data, channels=3)
    image = tf.image.resize(image, (SIZE, SIZE)) / 255.0
    return image, label


files, labels = photo_bytes()
dataset = tf.data.Dataset.from_tensor_slices((files, labels))
train = (
    dataset.take(int(0.3 * COUNT))
    .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
val = (
    dataset.skip(int(0.85 * COUNT))
    .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)

model = tf.keras.Sequential(
    [
        tf.keras.Input((SIZE, SIZE, 3)),
        tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(5),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train, validation_data=val, epochs=25, verbose=2)
