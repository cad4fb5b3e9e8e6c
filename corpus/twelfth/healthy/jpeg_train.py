"""tf.data from JPEG files with parallel decoding, prefetch and random crops -> convnet."""
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

AUTO = tf.data.AUTOTUNE
N, CROP, BATCH, EPOCHS = 480, 96, 32, 5


def write(folder):
    rng = np.random.default_rng(1)
    for i in range(N):
        small = rng.integers(0, 200, (8, 8, 3)).astype("float32")
        small[..., i % 3] *= 0.4
        img = tf.image.resize(small, (160, 160), method="bicubic")
        img = tf.cast(tf.clip_by_value(img, 0, 255), tf.uint8)
        tf.io.write_file(str(folder / f"{i % 3}_{i:04d}.jpg"), tf.io.encode_jpeg(img, quality=90))


def parse(path, label):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return img, label


def crop(img, label):
    img = tf.image.random_crop(img, (CROP, CROP, 3))
    img = tf.image.random_flip_left_right(img)
    return tf.cast(img, tf.float32) / 127.5 - 1.0, label


def dataset(folder):
    files = sorted(str(p) for p in folder.glob("*.jpg"))
    labels = [int(pathlib.Path(f).name[0]) for f in files]
    ds = tf.data.Dataset.from_tensor_slices((files, labels))
    ds = ds.map(parse, AUTO).cache().shuffle(N, seed=2)
    return ds.map(crop, AUTO).batch(BATCH).prefetch(AUTO)


def net():
    m = tf.keras.Sequential([layers.Input((CROP, CROP, 3))])
    for f in (24, 48, 64, 96):
        m.add(layers.Conv2D(f, 3, padding="same", use_bias=False))
        m.add(layers.BatchNormalization())
        m.add(layers.ReLU())
        m.add(layers.MaxPooling2D())
    m.add(layers.GlobalAveragePooling2D())
    m.add(layers.Dense(3))
    return m


def main():
    tf.keras.utils.set_random_seed(4)
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        write(folder)
        model = net()
        model.compile(tf.keras.optimizers.Adam(1e-3),
                      tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy"])
        model.fit(dataset(folder), epochs=EPOCHS, verbose=2)


if __name__ == "__main__":
    main()
