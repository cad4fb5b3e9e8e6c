"""Preprocessing job: waveforms -> log-mel spectrograms -> TFRecord shards, then a read-back check.

usage: spectro_records.py [--clips N] [--shards M]
"""
import argparse
import os
import shutil
import tempfile
import time

import numpy as np
import tensorflow as tf

RATE = 16_000
FRAME, HOP, MELS = 512, 100, 128


def clip(rng, seconds=3.0):
    t = np.arange(int(RATE * seconds)) / RATE
    f0 = rng.uniform(90, 500)
    sweep = f0 * t + rng.uniform(-30, 30) * t ** 2
    wave = sum(np.sin(2 * np.pi * k * sweep) / k for k in (1, 2))
    return (0.3 * wave + 0.02 * rng.normal(size=t.size)).astype(np.float32)


MEL_MATRIX = tf.signal.linear_to_mel_weight_matrix(MELS, FRAME // 2 + 1, RATE, 40.0, 7600.0)


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.float32)])
def log_mel(waves):
    spec = tf.abs(tf.signal.stft(waves, FRAME, HOP))
    return tf.math.log(tf.tensordot(spec, MEL_MATRIX, 1) + 1e-5)


def to_example(spec, label):
    feature = {
        "spec": tf.train.Feature(float_list=tf.train.FloatList(value=spec.flatten())),
        "shape": tf.train.Feature(int64_list=tf.train.Int64List(value=spec.shape)),
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


def write_shard(path, rng, n, batch=25):
    with tf.io.TFRecordWriter(path) as w:
        for i in range(0, n, batch):
            waves = np.stack([clip(rng) for _ in range(min(batch, n - i))])
            specs = log_mel(waves).numpy()
            for s in specs:
                w.write(to_example(s, int(s.mean() > -3)))


SPEC = {
    "spec": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True),
    "shape": tf.io.FixedLenFeature([2], tf.int64),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def decode(record):
    f = tf.io.parse_single_example(record, SPEC)
    return tf.reshape(f["spec"], f["shape"]), f["label"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--clips", type=int, default=800)
    p.add_argument("--shards", type=int, default=4)
    a = p.parse_args()
    out = tempfile.mkdtemp(prefix="mel_")
    try:
        t0 = time.time()
        paths = []
        for s in range(a.shards):
            path = os.path.join(out, f"part-{s:02d}.tfrecord")
            write_shard(path, np.random.default_rng(100 + s), a.clips // a.shards)
            paths.append(path)
            print("%s  %.1f MB  %.1f s" % (os.path.basename(path),
                                           os.path.getsize(path) / 1e6, time.time() - t0))
        total = n = 0.0
        for spec, label in tf.data.TFRecordDataset(paths).map(decode).prefetch(4):
            total += float(tf.reduce_mean(spec))
            n += 1
        print("read back %d spectrograms, mean level %.5f" % (n, total / n))
    finally:
        shutil.rmtree(out)


if __name__ == "__main__":
    main()
