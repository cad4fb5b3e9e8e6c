"""Weave defect classifier: records on disk, parsed once, small convolutional net, fit."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIDE = 40
CLASSES = 5


def write_records(path, n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    with tf.io.TFRecordWriter(path) as out:
        for _ in range(n):
            k = int(rng.integers(CLASSES))
            phase = rng.uniform(0, 6.28)
            wave = np.sin(xx * 0.35 * (k + 1) + phase) + np.sin(yy * 0.3 * (k + 1))
            img = np.clip(128 + 30 * wave + rng.normal(0, 25, wave.shape), 0, 255).astype("uint8")
            example = tf.train.Example(features=tf.train.Features(feature={
                "img": tf.train.Feature(bytes_list=tf.train.BytesList(value=[img.tobytes()])),
                "k": tf.train.Feature(int64_list=tf.train.Int64List(value=[k])),
            }))
            out.write(example.SerializeToString())


def parse(records):
    row = tf.io.parse_example(records, {"img": tf.io.FixedLenFeature([], tf.string),
                                        "k": tf.io.FixedLenFeature([], tf.int64)})
    img = tf.reshape(tf.io.decode_raw(row["img"], tf.uint8), [-1, SIDE, SIDE, 1])
    return tf.cast(img, tf.float32) / 127.5 - 1.0, row["k"]


def load(path, batch, training):
    ds = tf.data.TFRecordDataset(path).batch(batch, drop_remainder=training)
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(64, seed=1)
    return ds.prefetch(tf.data.AUTOTUNE)


def build():
    return tf.keras.Sequential([
        tf.keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(CLASSES),
    ])


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(8)
    with tempfile.TemporaryDirectory() as folder:
        train, test = os.path.join(folder, "train.rec"), os.path.join(folder, "test.rec")
        write_records(train, 2400, 1)
        write_records(test, 400, 2)
        model = build()
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=["accuracy"], jit_compile=False)
        model.fit(load(train, 64, True), validation_data=load(test, 100, False), epochs=5, verbose=2)
