"""Colour statistics of an image archive: sharded JPEG records -> per-shard histograms."""
import os
import tempfile

import numpy as np
import tensorflow as tf

AUTO = tf.data.AUTOTUNE
SHARDS = 6
PER_SHARD = 800
H, W = 360, 480
BATCH = 100


def write_archive(folder):
    rng = np.random.default_rng(14)
    ramp = np.linspace(0, 1, W, dtype="float32")[None, :, None]
    pool = []
    for _ in range(40):
        colour = rng.uniform(40, 215, (1, 1, 3)).astype("float32")
        image = colour * (0.6 + 0.4 * ramp) + rng.normal(0, 10, (H, W, 1))
        pool.append(tf.io.encode_jpeg(image.clip(0, 255).astype("uint8")).numpy())
    paths = [os.path.join(folder, f"tiles-{s}.tfrecord") for s in range(SHARDS)]
    for path in paths:
        with tf.io.TFRecordWriter(path) as out:
            for k in rng.integers(0, len(pool), PER_SHARD):
                out.write(pool[k])
    return paths


def tile_histogram(record):
    image = tf.io.decode_jpeg(record, channels=3, dct_method="INTEGER_FAST")
    index = tf.cast(image, tf.int32) + tf.constant([0, 256, 512])
    return tf.math.bincount(index, minlength=768, maxlength=768)


@tf.function
def scan(ds):
    hist = tf.zeros([768], tf.int32)
    count = tf.constant(0)
    for block in ds:
        hist += tf.reduce_sum(block, axis=0)
        count += tf.shape(block)[0]
    return tf.reshape(hist, [3, 256]), count


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = write_archive(folder)
        ds = tf.data.Dataset.from_tensor_slices(paths)
        ds = ds.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=AUTO)
        ds = ds.map(tile_histogram, num_parallel_calls=AUTO).batch(BATCH).prefetch(AUTO)
        hist, count = scan(ds)
    hist = hist.numpy()
    print("tiles", int(count), "mean level %.3f" % (hist @ np.arange(256) / hist.sum(1)).mean())
    for name, row in zip("RGB", hist.reshape(3, 32, 8).sum(2)):
        share = row / row.sum()
        print(name, "mode bin", int(row.argmax()), "entropy %.4f" % -(share[share > 0] * np.log2(share[share > 0])).sum())


if __name__ == "__main__":
    main()
