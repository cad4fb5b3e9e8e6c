"""Evaluates a click model on logged impressions kept as TFRecord."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

COLUMNS = [f"f{i:02d}" for i in range(30)]
ROWS = 30_000
SPEC = {name: tf.io.FixedLenFeature([], tf.float32) for name in COLUMNS}
SPEC["ad"] = tf.io.FixedLenFeature([], tf.int64)
SPEC["click"] = tf.io.FixedLenFeature([], tf.int64)


def write(path):
    rng = np.random.default_rng(8)
    values = rng.standard_normal((500, len(COLUMNS)))
    with tf.io.TFRecordWriter(path) as out:
        rows = []
        for v in values:
            feature = {
                n: tf.train.Feature(float_list=tf.train.FloatList(value=[x])) for n, x in zip(COLUMNS, v, strict=False)
            }
            feature["ad"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[int(rng.integers(1000))]))
            feature["click"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[int(v[0] > 0.7)]))
            rows.append(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
        for i in range(ROWS):
            out.write(rows[i % len(rows)])


def to_inputs(row):
    dense = tf.stack([row[name] for name in COLUMNS], axis=-1)
    return {"dense": dense, "ad": row["ad"]}, row["click"]


def impressions(path):
    ds = tf.data.TFRecordDataset(path)
    ds = ds.map(lambda r: to_inputs(tf.io.parse_single_example(r, SPEC)), num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.batch(512)
    return ds.prefetch(tf.data.AUTOTUNE)


inputs = {"dense": tf.keras.Input((len(COLUMNS),), name="numbers"), "ad": tf.keras.Input((), dtype="int64", name="ad")}
h = tf.keras.layers.Concatenate()([inputs["dense"], tf.keras.layers.Embedding(1000, 16)(inputs["ad"])])
h = tf.keras.layers.Dense(64, activation="relu")(h)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(h))
model.compile(loss="binary_crossentropy", metrics=["accuracy"])

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "log.tfrecord")
    write(path)
    began = time.perf_counter()
    for day in range(5):
        loss, accuracy = model.evaluate(impressions(path), verbose=0)
        print(f"day {day}: loss {loss:.4f} accuracy {accuracy:.4f}")
    print(f"evaluated in {time.perf_counter() - began:.2f} s")
