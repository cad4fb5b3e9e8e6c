"""Describe a gallery of pictures with a convnet backbone and find near-duplicates (no training)."""
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 128
COUNT = 1260
BATCH = 32


def write_gallery(folder):
    rng = np.random.default_rng(14)
    names = []
    previous = None
    for i in range(COUNT):
        if i % 7 == 6:
            img = np.clip(previous + rng.normal(0, 4, previous.shape), 0, 255)
        else:
            coarse = rng.uniform(0, 255, (8, 8, 3))
            img = coarse.repeat(SIDE // 8, 0).repeat(SIDE // 8, 1)
        previous = img
        path = os.path.join(folder, f"{i:04d}.jpg")
        tf.io.write_file(path, tf.io.encode_jpeg(img.astype(np.uint8), quality=90))
        names.append(path)
    return names


def load(path):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    img = tf.ensure_shape(img, (SIDE, SIDE, 3))
    return tf.cast(img, tf.float32) / 127.5 - 1.0


def backbone():
    keras.utils.set_random_seed(40)
    inp = keras.Input((SIDE, SIDE, 3))
    x = layers.Conv2D(32, 5, strides=2, padding="same", activation="relu")(inp)
    for f in (64, 128, 256):
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.UnitNormalization()(x))


def main():
    t0 = time.time()
    with tempfile.TemporaryDirectory() as folder:
        names = write_gallery(folder)
        print("gallery written, %.1f s" % (time.time() - t0))
        ds = (tf.data.Dataset.from_tensor_slices(names)
              .map(load, num_parallel_calls=tf.data.AUTOTUNE)
              .batch(BATCH).prefetch(tf.data.AUTOTUNE))
        model = backbone()
        desc = model.predict(ds, verbose=0)
    print("descriptors", desc.shape, "%.1f s" % (time.time() - t0))
    desc = desc - desc.mean(0)
    desc /= np.linalg.norm(desc, axis=1, keepdims=True)
    sim = desc @ desc.T
    np.fill_diagonal(sim, -1)
    best = sim.argmax(1)
    pairs = [(i, b) for i, b in enumerate(best) if i < b and sim[i, b] > 0.95]
    right = sum(b == i + 1 and b % 7 == 6 for i, b in pairs)
    print("near-duplicates: %d, of these true: %d of %d" % (len(pairs), right, COUNT // 7))


if __name__ == "__main__":
    main()
