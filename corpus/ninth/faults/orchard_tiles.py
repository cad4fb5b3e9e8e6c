"""Tree / no-tree classifier on random tiles cut from drone mosaics."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIDE = 700
TILE = 64
MOSAICS = 10
STEPS = 20
BATCH = 16
EPOCHS = 2


def write_mosaics(folder):
    rng = np.random.default_rng(6)
    paths = []
    for i in range(MOSAICS):
        field = rng.integers(30, 110, (SIDE // 20, SIDE // 20, 3))
        trees = rng.random((SIDE // 20, SIDE // 20)) < 0.15
        field[trees] = [25, 160, 40]
        img = np.kron(field, np.ones((20, 20, 1), int)).astype("uint8")
        path = os.path.join(folder, f"mosaic_{i:02d}.raw")
        img.tofile(path)
        paths.append(path)
    return paths


def load_mosaic(path):
    raw = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
    return tf.reshape(raw, [SIDE, SIDE, 3])


def correct(image):
    x = tf.image.convert_image_dtype(image, tf.float32)
    x = tf.where(x <= 0.04045, x / 12.92, tf.pow((x + 0.055) / 1.055, 2.4))
    return (x - tf.constant([0.10, 0.13, 0.09])) / tf.constant([0.08, 0.12, 0.07])


def make_tile(path, number):
    image = correct(load_mosaic(path))
    tile = tf.image.stateless_random_crop(image, [TILE, TILE, 3], seed=tf.stack([number, 13]))
    centre = tile[TILE // 2, TILE // 2]
    label = tf.cast(centre[1] > 1.5, tf.float32)
    return tile, label


def tiles(paths):
    n = STEPS * BATCH
    ds = tf.data.Dataset.from_tensor_slices(paths).repeat().take(n)
    ds = tf.data.Dataset.zip((ds, tf.data.Dataset.range(n)))
    ds = ds.map(make_tile, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build():
    return tf.keras.Sequential([
        tf.keras.Input((TILE, TILE, 3)),
        layers.Conv2D(12, 5, strides=4, activation="relu"),
        layers.Conv2D(24, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(1, activation="sigmoid"),
    ])


def main():
    tf.keras.utils.set_random_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_mosaics(folder)
        model = build()
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"], jit_compile=False)
        history = model.fit(tiles(paths), epochs=EPOCHS, verbose=2)
        print("final loss %.4f" % history.history["loss"][-1])


if __name__ == "__main__":
    main()
