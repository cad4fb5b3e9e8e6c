"""Turns synthetic seismic traces into normalised spectrogram TFRecords (sharded) with a manifest. No training."""
import argparse
import json
import pathlib
import shutil
import tempfile
import time

import numpy as np
import scipy.signal
import tensorflow as tf


def traces(n, length, rng):
    noise = rng.normal(0, 1, (n, length)).astype("float32")
    noise = scipy.signal.lfilter([1.0], [1.0, -0.85], noise, axis=1).astype("float32")
    onset = rng.integers(length // 4, length // 2, n)
    t = np.arange(length)[None] - onset[:, None]
    event = np.where(t > 0, np.exp(-np.maximum(t, 0) / 300.0) * np.sin(0.35 * t), 0)
    has = rng.random(n) < 0.5
    return noise + 6 * event * has[:, None], has.astype("int64"), onset


def spectrograms(x, frame=128, hop=32):
    win = np.hanning(frame).astype("float32")
    frames = np.lib.stride_tricks.sliding_window_view(x, frame, axis=1)[:, ::hop]
    power = np.abs(np.fft.rfft(frames * win, axis=-1)) ** 2
    log = np.log1p(power)
    return ((log - log.mean((1, 2), keepdims=True)) / log.std((1, 2), keepdims=True)).astype("float16")


def example(spec, label, onset):
    f = {"spec": tf.train.Feature(bytes_list=tf.train.BytesList(value=[spec.tobytes()])),
         "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
         "onset": tf.train.Feature(int64_list=tf.train.Int64List(value=[onset]))}
    return tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--shards", type=int, default=20)
    ap.add_argument("--per-shard", type=int, default=250)
    ap.add_argument("--length", type=int, default=8192)
    args = ap.parse_args()
    rng = np.random.default_rng(88)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="seismic_"))
    manifest, t0 = [], time.time()
    try:
        for s in range(args.shards):
            x, label, onset = traces(args.per_shard, args.length, rng)
            spec = spectrograms(x)
            path = folder / f"part-{s:03d}.tfrecord"
            with tf.io.TFRecordWriter(str(path)) as w:
                for i in range(args.per_shard):
                    w.write(example(spec[i], int(label[i]), int(onset[i])))
            manifest.append({"file": path.name, "events": int(label.sum()), "shape": list(spec.shape[1:])})
        (folder / "manifest.json").write_text(json.dumps(manifest))
        size = sum(p.stat().st_size for p in folder.glob("*.tfrecord")) / 1e6
        n = args.shards * args.per_shard
        print(f"{n} traces, {size:.0f} MB in {time.time() - t0:.1f}s; events {sum(m['events'] for m in manifest)}")
        shape = manifest[0]["shape"]
        ds = tf.data.TFRecordDataset([str(folder / m["file"]) for m in manifest]).batch(256)
        spec_in = {"spec": tf.io.FixedLenFeature([], tf.string)}
        ds = ds.map(lambda r: tf.io.decode_raw(tf.io.parse_example(r, spec_in)["spec"], tf.float16),
                    num_parallel_calls=2).prefetch(2)
        total = sum(float(tf.reduce_sum(tf.cast(b, tf.float32))) for b in ds)
        print(f"check: shape {shape}, mean {total / (n * shape[0] * shape[1]):.2e}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
