"""Leaf photos -> species. Reads JPEGs from a folder, trains a small convnet.

The photos are generated on the first lines so the script can be run anywhere.
Dataset fits in RAM easily (few hundred pictures), hence the cache.
"""
import os
import shutil
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, utils

CLASSES = ["acer", "betula", "quercus", "tilia"]
PER_CLASS = 60
EPOCHS = 14
SIZE = 48
BATCH = 24


def write_photos(root):
    rng = np.random.default_rng(0)
    for c, name in enumerate(CLASSES):
        os.makedirs(os.path.join(root, name))
        for i in range(PER_CLASS):
            small = rng.integers(0, 120, (24, 32, 3)).astype("float32")
            small[..., c % 3] += 40 + 20 * c
            pic = tf.image.resize(small, (960, 1280)).numpy().astype("uint8")
            data = tf.io.encode_jpeg(pic, quality=92).numpy()
            with open(os.path.join(root, name, "%03d.jpg" % i), "wb") as f:
                f.write(data)


def load_raw(path):
    label = tf.argmax(tf.strings.split(path, os.sep)[-2] == tf.constant(CLASSES))
    return tf.io.read_file(path), label


def prepare(data, label):
    img = tf.image.decode_jpeg(data, channels=3)
    img = tf.image.convert_image_dtype(img, tf.float32)
    img = tf.image.resize(img, (SIZE, SIZE), antialias=True)
    return (img - 0.5) * 2.0, label


def augment(img, label):
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.1)
    return img, label


def pipeline(root):
    files = sorted(tf.io.gfile.glob(os.path.join(root, "*", "*.jpg")))
    auto = tf.data.AUTOTUNE
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.map(load_raw, num_parallel_calls=auto)
    ds = ds.cache()
    ds = ds.map(prepare, num_parallel_calls=auto)
    ds = ds.shuffle(len(files), seed=1)
    ds = ds.map(augment, num_parallel_calls=auto)
    return ds.batch(BATCH).prefetch(auto)


def network():
    return Sequential([
        layers.Input((SIZE, SIZE, 3)),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(len(CLASSES), activation="softmax"),
    ])


if __name__ == "__main__":
    utils.set_random_seed(9)
    folder = tempfile.mkdtemp(prefix="leaves_")
    try:
        t0 = time.time()
        write_photos(folder)
        print("photos written, %.1f s" % (time.time() - t0), flush=True)
        model = network()
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(pipeline(folder), epochs=EPOCHS, verbose=2)
    finally:
        shutil.rmtree(folder)
