"""Collect per-column statistics of a directory of TFRecord shards."""
import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

SPEC = {
    "values": tf.io.FixedLenFeature([16], tf.float32),
    "station": tf.io.FixedLenFeature([], tf.string),
    "year": tf.io.FixedLenFeature([], tf.int64),
}


def write_shards(folder, shards, rows):
    rng = np.random.default_rng(42)
    paths = []
    for s in range(shards):
        path = os.path.join(folder, f"part-{s:03d}.tfrecord")
        with tf.io.TFRecordWriter(path) as w:
            block = rng.normal(size=(rows, 16)).astype("float32")
            for r in range(rows):
                ex = tf.train.Example()
                ex.features.feature["values"].float_list.value.extend(block[r])
                ex.features.feature["station"].bytes_list.value.append(b"st%d" % (r % 7))
                ex.features.feature["year"].int64_list.value.append(1990 + r % 30)
                w.write(ex.SerializeToString())
        paths.append(path)
    return paths


def collect(paths):
    total = np.zeros(16)
    square = np.zeros(16)
    count = 0
    years = set()
    ds = tf.data.TFRecordDataset(paths).batch(1024)
    ds = ds.map(lambda raw: tf.io.parse_example(raw, SPEC), num_parallel_calls=2)
    for rows in ds.prefetch(2).as_numpy_iterator():
        v = rows["values"].astype("float64")
        total += v.sum(axis=0)
        square += (v * v).sum(axis=0)
        count += len(v)
        years.update(np.unique(rows["year"]).tolist())
    mean = total / count
    return mean, np.sqrt(square / count - mean ** 2), count, years


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--shards", type=int, default=6)
    ap.add_argument("--rows", type=int, default=1900)
    args = ap.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = write_shards(folder, args.shards, args.rows)
        mean, std, count, years = collect(files)
    print(count, "rows", len(years), "years")
    print("mean[0] %.5f std[0] %.5f" % (mean[0], std[0]))
