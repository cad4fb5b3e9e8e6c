"""Turn raw sensor log lines into sharded TFRecord files of model features."""
import contextlib
import os
import tempfile

import numpy as np
import tensorflow as tf

NUM_LINES = 5100
READINGS = 48
NUM_SHARDS = 8
KINDS = ("temp", "flow", "vibration", "pressure")


def write_logs(path):
    """device=... kind=... | v;v;v;...  One file per gateway."""
    rng = np.random.default_rng(0)
    files = []
    for gateway in range(3):
        name = os.path.join(path, f"gateway_{gateway}.log")
        with open(name, "w") as f:
            for _ in range(NUM_LINES // 3):
                values = np.cumsum(rng.normal(size=READINGS)) + 20
                text = ";".join(f"{v:.3f}" for v in values)
                kind = KINDS[rng.integers(len(KINDS))]
                f.write(f"Device={rng.integers(500):05d} KIND={kind} | {text}\n")
        files.append(name)
    return files


def parse_line(line):
    """Split a log line into the ids and a float vector of readings."""
    line = tf.strings.lower(line)
    head, body = tf.unstack(tf.strings.split(line, " | "), num=2)
    device = tf.strings.regex_replace(head, r".*device=(\d+).*", r"\1")
    kind = tf.strings.regex_replace(head, r".*kind=([a-z]+).*", r"\1")
    values = tf.strings.to_number(tf.strings.split(body, ";"))
    return {
        "device": tf.strings.to_number(device, tf.int64),
        "kind": tf.strings.to_hash_bucket_fast(kind, 64),
        "values": tf.ensure_shape(values, [READINGS]),
    }


def add_features(row):
    """Lags, rolling statistics and the spectrum of the readings."""
    x = row["values"]
    mean, var = tf.nn.moments(x, axes=[0])
    z = (x - mean) * tf.math.rsqrt(var + 1e-6)
    feats = [tf.reshape(mean, [1]), tf.reshape(var, [1])]
    for lag in (1, 2, 6, 12, 24):
        a, b = z[lag:], z[:-lag]
        feats.append(tf.reshape(tf.reduce_mean(a * b), [1]))
    for width in (4, 8, 16):
        windows = tf.signal.frame(z, width, width // 2)
        feats.append(tf.reduce_max(windows, axis=1) - tf.reduce_min(windows, axis=1))
        feats.append(tf.math.reduce_std(windows, axis=1))
    spectrum = tf.abs(tf.signal.rfft(z))
    feats.append(spectrum / (tf.reduce_sum(spectrum) + 1e-6))
    edges = tf.linspace(-2.0, 2.0, 9)
    hist = tf.math.bincount(
        tf.searchsorted(edges, z), minlength=10, maxlength=10, dtype=tf.int32
    )
    feats.append(tf.cast(hist, tf.float32) / READINGS)
    return {"device": row["device"], "kind": row["kind"],
            "features": tf.concat(feats, axis=0)}


def serialize(row):
    feature = {
        "device": tf.train.Feature(int64_list=tf.train.Int64List(value=[row["device"]])),
        "kind": tf.train.Feature(int64_list=tf.train.Int64List(value=[row["kind"]])),
        "features": tf.train.Feature(
            float_list=tf.train.FloatList(value=row["features"].tolist())),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature))
    return example.SerializeToString()


def write_shards(files, out_dir):
    dataset = tf.data.TextLineDataset(files)
    dataset = dataset.map(parse_line, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.map(add_features, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.prefetch(tf.data.AUTOTUNE)

    paths = [
        os.path.join(out_dir, f"train-{i:05d}-of-{NUM_SHARDS:05d}.tfrecord")
        for i in range(NUM_SHARDS)
    ]
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(tf.io.TFRecordWriter(p)) for p in paths]
        for i, row in enumerate(dataset.as_numpy_iterator()):
            writers[i % NUM_SHARDS].write(serialize(row))
    return paths


def summarize(paths):
    spec = {
        "device": tf.io.FixedLenFeature([], tf.int64),
        "kind": tf.io.FixedLenFeature([], tf.int64),
        "features": tf.io.VarLenFeature(tf.float32),
    }
    for path in paths[:3]:
        ds = tf.data.TFRecordDataset(path).batch(1024)
        count, total, ids = 0, 0.0, 0
        for batch in ds:
            parsed = tf.io.parse_example(batch, spec)
            count += int(tf.shape(parsed["device"])[0])
            total += float(tf.reduce_sum(parsed["features"].values))
            ids += int(tf.reduce_sum(parsed["device"]))
        print(os.path.basename(path), count, ids, f"{total:.2f}")


def main():
    with tempfile.TemporaryDirectory() as work:
        files = write_logs(work)
        paths = write_shards(files, work)
        print("shards", len(paths))
        summarize(paths)


if __name__ == "__main__":
    main()
