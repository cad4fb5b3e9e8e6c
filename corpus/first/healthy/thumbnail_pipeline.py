"""Decode JPEG files from disk, resize them and collect colour statistics."""
import os
import tempfile

import numpy as np
import tensorflow as tf

IMAGES, DISTINCT = 7000, 40


def write_images(folder):
    rng = np.random.default_rng(2)
    blobs = []
    for _ in range(DISTINCT):
        small = rng.integers(0, 255, size=(32, 48, 3)).astype("float32")
        big = tf.cast(tf.image.resize(small, (480, 640), method="bicubic"), tf.uint8)
        blobs.append(tf.io.encode_jpeg(big).numpy())
    names = []
    for i in range(IMAGES):
        name = os.path.join(folder, f"{i:05d}.jpg")
        with open(name, "wb") as f:
            f.write(blobs[i % DISTINCT])
        names.append(name)
    return names


def load(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, (128, 128)) / 255.0
    return tf.ensure_shape(image, (128, 128, 3))


@tf.function
def moments(ds):
    total, square, n = tf.zeros([3]), tf.zeros([3]), 0.0
    for batch in ds:
        total += tf.reduce_sum(tf.reduce_mean(batch, axis=(1, 2)), axis=0)
        square += tf.reduce_sum(tf.reduce_mean(tf.square(batch), axis=(1, 2)), axis=0)
        n += tf.cast(tf.shape(batch)[0], tf.float32)
    mean = total / n
    return mean, tf.sqrt(square / n - tf.square(mean))


with tempfile.TemporaryDirectory() as folder:
    files = write_images(folder)
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
    mean, std = moments(ds)
print("mean", mean.numpy().round(4), "std", std.numpy().round(4))
