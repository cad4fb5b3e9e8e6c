"""Turn a folder of stamp scans into numbered .npz shards of image descriptors."""
import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf


def make_scans(folder, count):
    rng = np.random.default_rng(31)
    for i in range(count):
        base = rng.integers(0, 255, (20, 15, 3), dtype=np.uint8)
        img = np.kron(base, np.ones((8, 8, 1), np.uint8))
        img = np.clip(img.astype(int) + rng.integers(-8, 9, img.shape), 0, 255).astype(np.uint8)
        with open(os.path.join(folder, f"stamp_{i:05d}.png"), "wb") as f:
            f.write(tf.io.encode_png(img).numpy())


def describe(path):
    img = tf.image.decode_png(tf.io.read_file(path), channels=3)
    img = tf.image.resize(tf.cast(img, tf.float32) / 255.0, [96, 72], antialias=True)
    img.set_shape([96, 72, 3])
    grey = tf.reduce_mean(img, axis=-1)
    dy, dx = tf.image.image_gradients(grey[None, ..., None])
    energy = tf.sqrt(dy * dy + dx * dx)
    cells = tf.nn.avg_pool2d(energy, 12, 12, "VALID")
    colour = tf.nn.avg_pool2d(img[None], 24, 24, "VALID")
    return tf.concat([tf.reshape(cells, [-1]), tf.reshape(colour, [-1])], axis=0)


def dataset(folder):
    ds = tf.data.Dataset.list_files(os.path.join(folder, "*.png"), shuffle=False)
    return ds.map(describe, num_parallel_calls=tf.data.AUTOTUNE)


def export(ds, target, total, per_shard):
    written = 0
    checksum = 0.0
    for s, block in enumerate(ds.batch(per_shard).as_numpy_iterator()):
        np.savez(os.path.join(target, f"shard_{s:03d}.npz"), x=block)
        written += len(block)
        checksum += float(block.sum())
    return written, checksum


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--count", type=int, default=560)
    ap.add_argument("--per-shard", type=int, default=16)
    a = ap.parse_args()
    with tempfile.TemporaryDirectory() as root:
        src, dst = os.path.join(root, "in"), os.path.join(root, "out")
        os.makedirs(src)
        os.makedirs(dst)
        make_scans(src, a.count)
        written, checksum = export(dataset(src), dst, a.count, a.per_shard)
        print(written, "descriptors in", len(os.listdir(dst)), "shards, checksum %.3f" % checksum)


if __name__ == "__main__":
    main()
