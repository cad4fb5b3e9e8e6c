"""Write contact sheets (one PNG per page of 24 thumbnails) from a TFRecord archive of JPEG photos."""
import os
import tempfile
import numpy as np
import tensorflow as tf

COUNT = 1440
PER_PAGE = 24
COLS = 6
THUMB = 64

FEATURES = {
    "jpeg": tf.io.FixedLenFeature([], tf.string),
    "taken": tf.io.FixedLenFeature([], tf.int64),
}


def write_archive(path, rng):
    yy, xx = np.mgrid[0:128, 0:128]
    with tf.io.TFRecordWriter(path) as w:
        for i in range(COUNT):
            a, b, c = rng.uniform(0.02, 0.2, 3)
            img = np.stack([np.sin(a * xx), np.cos(b * yy), np.sin(c * (xx + yy))], -1)
            img = (img * 100 + 128 + rng.normal(0, 6, img.shape)).clip(0, 255).astype(np.uint8)
            ex = tf.train.Example(features=tf.train.Features(feature={
                "jpeg": tf.train.Feature(bytes_list=tf.train.BytesList(
                    value=[tf.io.encode_jpeg(img, quality=90).numpy()])),
                "taken": tf.train.Feature(int64_list=tf.train.Int64List(value=[1600000000 + 977 * i])),
            }))
            w.write(ex.SerializeToString())


def parse(record):
    ex = tf.io.parse_single_example(record, FEATURES)
    img = tf.io.decode_jpeg(ex["jpeg"], channels=3)
    img = tf.image.resize(img, [THUMB, THUMB], antialias=True)
    return tf.cast(tf.clip_by_value(img, 0, 255), tf.uint8), ex["taken"]


def open_archive(path):
    ds = tf.data.TFRecordDataset(path)
    return ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)


def load_page(ds, page):
    part = ds.skip(page * PER_PAGE).take(PER_PAGE).batch(PER_PAGE)
    return next(iter(part))


def sheet(thumbs):
    rows = len(thumbs) // COLS
    grid = thumbs.reshape(rows, COLS, THUMB, THUMB, 3)
    return grid.transpose(0, 2, 1, 3, 4).reshape(rows * THUMB, COLS * THUMB, 3)


def main():
    with tempfile.TemporaryDirectory() as folder:
        archive = os.path.join(folder, "photos.tfrecord")
        write_archive(archive, np.random.default_rng(0))
        ds = open_archive(archive)
        n_pages = COUNT // PER_PAGE
        total = 0
        for page in range(n_pages):
            thumbs, taken = load_page(ds, page)
            png = tf.io.encode_png(sheet(thumbs.numpy()))
            name = os.path.join(folder, f"sheet_{page:03d}.png")
            tf.io.write_file(name, png)
            total += os.path.getsize(name)
            if page % 15 == 0:
                print(f"page {page:3d}: {int(taken[0])} .. {int(taken[-1])}")
        print(f"{n_pages} sheets, {total / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
