"""Turns images into TFRecord shards (JPEG) and checks them by reading them back."""

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
base = rng.integers(0, 255, (40, 160, 160, 3), dtype=np.uint8)
SPEC = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def example(image, label):
    jpeg = tf.io.encode_jpeg(image, quality=90).numpy()
    return tf.train.Example(
        features=tf.train.Features(
            feature={
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
        )
    ).SerializeToString()


def decode(records):
    row = tf.io.parse_single_example(records, SPEC)
    return tf.image.resize(tf.io.decode_jpeg(row["image"], channels=3), (96, 96)), row["label"]


with tempfile.TemporaryDirectory() as folder:
    for shard in range(4):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{shard}.rec")) as out:
            for i in range(400):
                out.write(example(base[i % 40], i % 7))
    files = tf.data.Dataset.list_files(os.path.join(folder, "*.rec"), shuffle=False)
    ds = (
        files.interleave(tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE)
        .map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(64)
        .prefetch(tf.data.AUTOTUNE)
    )
    total, pixels = 0, 0.0
    for images, labels in ds:
        total += int(labels.shape[0])
        pixels += float(tf.reduce_sum(images))
    print(total, "images, mean pixel", round(pixels / total / 96 / 96 / 3, 2))
