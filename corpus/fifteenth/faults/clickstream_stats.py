"""Feature statistics for the click-through table.

Reads the daily TFRecord shards, derives the model features and accumulates
per-feature moments, an hour-of-day click profile and a device histogram which
are later frozen into the normalisation layer.
"""
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

DAYS = 8
RECORDS_PER_DAY = 36_000
BATCH = 1024
DEVICES = 8

SPEC = {
    "ts": tf.io.FixedLenFeature([], tf.int64),
    "device": tf.io.FixedLenFeature([], tf.int64),
    "clicked": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "price": tf.io.FixedLenFeature([], tf.float32),
    "dwell": tf.io.FixedLenFeature([], tf.float32),
    "embedding": tf.io.FixedLenFeature([16], tf.float32),
}


def example(rng):
    ints = lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=[v]))
    floats = lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=v))
    device = int(rng.integers(DEVICES))
    return tf.train.Example(features=tf.train.Features(feature={
        "ts": ints(int(rng.integers(0, 86_400))),
        "device": ints(device),
        "clicked": ints(int(rng.random() < 0.05 + 0.01 * device)),
        "price": floats([float(rng.lognormal(3, 1))]),
        "dwell": floats([float(rng.exponential(20))]),
        "embedding": floats(rng.normal(size=16)),
    })).SerializeToString()


def write_shards(folder):
    rng = np.random.default_rng(0)
    pool = [example(rng) for _ in range(5_000)]
    paths = []
    for day in range(DAYS):
        path = str(folder / f"clicks-{day:02d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for k in rng.integers(0, len(pool), RECORDS_PER_DAY):
                out.write(pool[k])
        paths.append(path)
    return paths


def features(record):
    row = tf.io.parse_single_example(record, SPEC)
    hour = row["ts"] // 3600
    angle = tf.cast(row["ts"], tf.float32) * (2 * np.pi / 86_400)
    scalars = tf.stack([tf.math.log1p(row["price"]), tf.math.log1p(row["dwell"]),
                        tf.sin(angle), tf.cos(angle)], axis=-1)
    x = tf.concat([scalars, row["embedding"]], axis=-1)
    return x, hour, row["device"], row["clicked"]


def pipeline(paths):
    files = tf.data.Dataset.from_tensor_slices(paths)
    records = files.interleave(tf.data.TFRecordDataset, cycle_length=2,
                               num_parallel_calls=tf.data.AUTOTUNE)
    ds = records.map(features, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


@tf.function
def accumulate(ds):
    n = tf.constant(0.0, tf.float64)
    first = tf.zeros([20], tf.float64)
    second = tf.zeros([20], tf.float64)
    clicks = tf.zeros([24])
    devices = tf.zeros([DEVICES])
    for x, hour, device, clicked in ds:
        x = tf.cast(x, tf.float64)
        n += tf.cast(tf.shape(x)[0], tf.float64)
        first += tf.reduce_sum(x, 0)
        second += tf.reduce_sum(x * x, 0)
        clicks += tf.math.unsorted_segment_sum(tf.cast(clicked, tf.float32), hour, 24)
        devices += tf.math.unsorted_segment_sum(tf.ones_like(device, tf.float32), device, DEVICES)
    mean = first / n
    return n, mean, tf.sqrt(second / n - mean * mean), clicks, devices


def main():
    with tempfile.TemporaryDirectory() as tmp:
        paths = write_shards(pathlib.Path(tmp))
        n, mean, std, clicks, devices = accumulate(pipeline(paths))
    print("records", int(n))
    print("mean", np.round(mean.numpy()[:4], 4), "std", np.round(std.numpy()[:4], 4))
    print("clicks by hour", clicks.numpy().astype(int))
    print("devices", devices.numpy().astype(int))


if __name__ == "__main__":
    main()
