"""Learn what sells together from shards of till records (TFRecord files)."""
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

FIELDS = 16
SHARDS, PER_SHARD = 6, 5000

SPEC = {f"item_{i}": tf.io.FixedLenFeature([1], tf.float32, default_value=[0.0]) for i in range(FIELDS)}
SPEC["basket"] = tf.io.FixedLenFeature([], tf.float32)


def float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def write_shards(folder):
    rng = np.random.default_rng(14)
    weights = rng.random(FIELDS)
    for shard in range(SHARDS):
        with tf.io.TFRecordWriter(os.path.join(folder, f"till-{shard}.tfrecord")) as out:
            for row in rng.random((PER_SHARD // 5, FIELDS)):
                features = {f"item_{i}": float_feature(v) for i, v in enumerate(row)}
                features["basket"] = float_feature(row @ weights)
                text = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
                for _ in range(5):
                    out.write(text)


def parse(record):
    row = tf.io.parse_single_example(record, SPEC)
    basket = row.pop("basket")
    items = tf.concat([row[f"item_{i}"] for i in range(FIELDS)], 0)
    return tf.math.log1p(items), basket


def open_shards(folder, batch):
    files = tf.data.Dataset.list_files(os.path.join(folder, "*.tfrecord"), seed=1)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=2, block_length=16)
    return records.map(parse).batch(batch).prefetch(tf.data.AUTOTUNE)


def train(folder):
    model = tf.keras.Sequential([
        tf.keras.layers.Input((FIELDS,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(open_shards(folder, 500), epochs=4, verbose=2)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(14)
    where = tempfile.mkdtemp()
    try:
        write_shards(where)
        train(where)
    finally:
        shutil.rmtree(where)
