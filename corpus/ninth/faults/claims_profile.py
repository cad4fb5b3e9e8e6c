"""Column profile of the insurance claim records: ranges, moments and category counts."""
import os
import tempfile

import numpy as np
import tensorflow as tf

NUMERIC = [f"amount_{i:02d}" for i in range(36)]
CATEGORY = [f"code_{i:02d}" for i in range(14)]
DAYS = 36
PER_DAY = 1800

SPEC = {name: tf.io.FixedLenFeature([], tf.float32) for name in NUMERIC}
SPEC.update({name: tf.io.FixedLenFeature([], tf.int64) for name in CATEGORY})


def write_days(folder):
    rng = np.random.default_rng(17)
    amounts = rng.lognormal(3, 1, (PER_DAY, len(NUMERIC))).astype("float32")
    codes = rng.integers(0, 20, (PER_DAY, len(CATEGORY)))
    blobs = []
    for a, c in zip(amounts.tolist(), codes.tolist()):
        feature = {n: tf.train.Feature(float_list=tf.train.FloatList(value=[v])) for n, v in zip(NUMERIC, a)}
        feature.update({n: tf.train.Feature(int64_list=tf.train.Int64List(value=[v])) for n, v in zip(CATEGORY, c)})
        blobs.append(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    files = []
    for day in range(DAYS):
        files.append(os.path.join(folder, f"claims-{day:03d}.tfrecord"))
        with tf.io.TFRecordWriter(files[-1]) as out:
            for j in rng.permutation(PER_DAY):
                out.write(blobs[j])
    return files


def parse(record):
    row = tf.io.parse_single_example(record, SPEC)
    nums = tf.stack([row[n] for n in NUMERIC], axis=-1)
    cats = tf.stack([row[n] for n in CATEGORY], axis=-1)
    return nums, cats


def claims(files):
    ds = tf.data.TFRecordDataset(files)
    ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.batch(600)
    return ds.prefetch(2)


@tf.function
def first_pass(ds):
    low = tf.fill([len(NUMERIC)], np.float32(np.inf))
    high = -low
    total = tf.zeros([len(NUMERIC)], tf.float64)
    n = tf.constant(0)
    for nums, _ in ds:
        low = tf.minimum(low, tf.reduce_min(nums, 0))
        high = tf.maximum(high, tf.reduce_max(nums, 0))
        total += tf.reduce_sum(tf.cast(nums, tf.float64), 0)
        n += tf.shape(nums)[0]
    return low, high, total / tf.cast(n, tf.float64), n


@tf.function
def second_pass(ds, mean):
    square = tf.zeros([len(NUMERIC)], tf.float64)
    counts = tf.zeros([len(CATEGORY), 20], tf.int32)
    for nums, cats in ds:
        square += tf.reduce_sum(tf.square(tf.cast(nums, tf.float64) - mean), 0)
        counts += tf.reduce_sum(tf.one_hot(cats, 20, dtype=tf.int32), 0)
    return square, counts


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = write_days(folder)
        ds = claims(files)
        low, high, mean, n = first_pass(ds)
        square, counts = second_pass(ds, mean)
        std = tf.sqrt(square / tf.cast(n, tf.float64))
        for i in range(0, len(NUMERIC), 9):
            print(f"{NUMERIC[i]}: min {float(low[i]):.3f} max {float(high[i]):.1f} "
                  f"mean {float(mean[i]):.3f} std {float(std[i]):.3f}")
        print("records", int(n), "rarest code count", int(tf.reduce_min(counts)))


if __name__ == "__main__":
    main()
