"""Read the click log (TFRecord) and count clicks by hour, device and price band."""
import os
import sys
import tempfile
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

ROWS, BATCH, PASSES = 40000, 512, 6
NUMERIC = ["price", "age", "dwell", "scroll", "rank", "ctr", "bid", "quality"]
INTS = ["hour", "device", "user", "item", "click"]
SPEC = {k: tf.io.FixedLenFeature([], tf.float32) for k in NUMERIC}
SPEC.update({k: tf.io.FixedLenFeature([], tf.int64) for k in INTS})


def write_log(path):
    rng = np.random.default_rng(12)
    nums = rng.random((ROWS, len(NUMERIC)))
    ints = rng.integers(0, [24, 3, 9999, 500, 2], (ROWS, len(INTS)))
    with tf.io.TFRecordWriter(path) as w:
        for f, i in zip(nums, ints):
            feat = {k: tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for k, v in zip(NUMERIC, f)}
            feat.update({k: tf.train.Feature(int64_list=tf.train.Int64List(value=[v])) for k, v in zip(INTS, i)})
            w.write(tf.train.Example(features=tf.train.Features(feature=feat)).SerializeToString())


def pipeline(path):
    ds = tf.data.TFRecordDataset(path)
    ds = ds.batch(BATCH)
    ds = ds.map(lambda raw: tf.io.parse_example(raw, SPEC), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "clicks.tfrecord")
    write_log(path)
    for band in np.linspace(0, 0.9, PASSES):
        table = np.zeros((24, 3), "int64")
        for row in pipeline(path):
            sel = (row["price"].numpy() >= band) & (row["click"].numpy() == 1)
            np.add.at(table, (row["hour"].numpy()[sel], row["device"].numpy()[sel]), 1)
        print("price >= %.2f: %d clicks, busiest hour %d" % (band, table.sum(), table.sum(1).argmax()))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
