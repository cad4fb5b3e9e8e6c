"""A table in TFRecord files, as the guide reads it: each record is parsed by itself."""

import os
import tempfile

import numpy as np
import tensorflow as tf

COLUMNS = [f"column{number}" for number in range(12)]
rng = np.random.default_rng(11)
path = os.path.join(tempfile.mkdtemp(), "table.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for row in rng.normal(size=(20_000, len(COLUMNS))):
        columns = {name: tf.train.Feature(float_list=tf.train.FloatList(value=[x])) for name, x in zip(COLUMNS, row)}
        columns["target"] = tf.train.Feature(float_list=tf.train.FloatList(value=[row.sum()]))
        writer.write(tf.train.Example(features=tf.train.Features(feature=columns)).SerializeToString())

description = {name: tf.io.FixedLenFeature([], tf.float32) for name in [*COLUMNS, "target"]}


def parse(record):
    columns = tf.io.parse_single_example(record, description)
    target = columns.pop("target")
    return tf.stack(list(columns.values()), axis=-1), target


data = tf.data.TFRecordDataset(path).shuffle(2000)
data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE).batch(256)  # FAULT
data = data.prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((12,)), tf.keras.layers.Dense(32, "relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(data, epochs=6, verbose=0)
print(f"mse {history.history['loss'][-1]:.4f}")

# /// fault
# style = "fit"
# kind = "time"
# cause = "Records of a few numbers are parsed one by one before batch, where parse_example takes a whole batch"
# codes = ["INP007"]
# families = ["input"]
# source = "tensorflow.org guide 'TFRecord and tf.train.Example', which parses single examples; questions on parse_example against parse_single_example"
# ///
