"""Train a classifier on tiles at random places of scanned slides."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIDE, TILE = 1200, 64
folder = tempfile.mkdtemp()
rng = np.random.default_rng(0)
scans = []
for i in range(3):
    coarse = rng.integers(0, 255, (SIDE // 16, SIDE // 16, 3)).astype(np.float32)
    image = tf.cast(tf.image.resize(coarse, (SIDE, SIDE)), tf.uint8)
    scans.append(os.path.join(folder, f"scan_{i}.jpg"))
    tf.io.write_file(scans[-1], tf.io.encode_jpeg(image))
paths = [scans[i % 3] for i in range(240)]
labels = rng.integers(0, 4, 240)


def load(path, label):
    corner = tf.random.uniform([2], maxval=SIDE - TILE, dtype=tf.int32)
    box = tf.stack([corner[0], corner[1], TILE, TILE])
    tile = tf.image.decode_and_crop_jpeg(tf.io.read_file(path), box, channels=3)
    return tf.image.convert_image_dtype(tile, tf.float32), label


data = tf.data.Dataset.from_tensor_slices((paths, labels)).shuffle(240)
data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(8).prefetch(tf.data.AUTOTUNE)
layers = [keras.layers.Conv2D(8, 5, strides=4, activation="relu"), keras.layers.GlobalAveragePooling2D()]
model = keras.Sequential([keras.Input((TILE, TILE, 3)), *layers, keras.layers.Dense(4, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy")
history = model.fit(data, epochs=4, verbose=0)
print(f"loss {history.history['loss'][-1]:.3f}")
