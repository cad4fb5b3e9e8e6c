"""Converts satellite chips (numpy) into sharded TFRecord files and verifies them by reading back."""
import argparse
import math
import pathlib
import shutil
import tempfile
import time

import numpy as np
import tensorflow as tf

BANDS = ("blue", "green", "red", "nir", "swir")


def make_chips(n, size, rng):
    """Reflectance in [0, 1] as float32, a land-cover label, and an acquisition id."""
    base = rng.random((n, 1, 1, len(BANDS)), dtype=np.float32)
    trend = np.linspace(0, 0.3, size, dtype=np.float32)[None, :, None, None]
    noise = rng.random((n, size, size, len(BANDS)), dtype=np.float32) * 0.2
    chips = base * 0.5 + trend + noise
    labels = (base[:, 0, 0, 3] * 6).astype(np.int64)
    ids = [f"S2_{i:06d}" for i in range(n)]
    return chips, labels, ids


def _bytes(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def encode_chip(chip, label, acq):
    feature = {
        "chip": _floats(chip.flatten().tolist()),
        "shape": _int64(*chip.shape),
        "label": _int64(int(label)),
        "id": _bytes(acq.encode()),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def decode_chip(record, size):
    spec = {
        "chip": tf.io.FixedLenFeature([size * size * len(BANDS)], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "id": tf.io.FixedLenFeature([], tf.string),
    }
    parsed = tf.io.parse_single_example(record, spec)
    chip = tf.reshape(parsed["chip"], [size, size, len(BANDS)])
    return chip, parsed["label"]


def write_shards(chips, labels, ids, folder, n_shards):
    per_shard = math.ceil(len(chips) / n_shards)
    paths = []
    for s in range(n_shards):
        path = str(folder / f"chips-{s:03d}-of-{n_shards:03d}.tfrecord")
        with tf.io.TFRecordWriter(path) as writer:
            for i in range(s * per_shard, min(len(chips), (s + 1) * per_shard)):
                writer.write(encode_chip(chips[i], labels[i], ids[i]))
        paths.append(path)
    return paths


def verify(paths, size):
    ds = tf.data.TFRecordDataset(paths).map(lambda r: decode_chip(r, size), num_parallel_calls=2).batch(64)
    n, total, hist = 0, np.zeros(len(BANDS)), np.zeros(6, int)
    for chip, label in ds.prefetch(2):
        n += len(label)
        total += tf.reduce_sum(chip, axis=[0, 1, 2]).numpy()
        hist += np.bincount(label.numpy(), minlength=6)
    return n, total / (n * size * size), hist


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chips", type=int, default=2400)
    ap.add_argument("--size", type=int, default=64)
    ap.add_argument("--shards", type=int, default=8)
    args = ap.parse_args()
    chips, labels, ids = make_chips(args.chips, args.size, np.random.default_rng(0))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="chips_"))
    try:
        t0 = time.time()
        paths = write_shards(chips, labels, ids, folder, args.shards)
        mb = sum(pathlib.Path(p).stat().st_size for p in paths) / 1e6
        print(f"wrote {args.chips} chips, {mb:.0f} MB in {time.time() - t0:.1f}s")
        n, mean, hist = verify(paths, args.size)
        print(f"read {n}: band means {dict(zip(BANDS, mean.round(3).tolist()))}")
        print("labels", hist.tolist())
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
