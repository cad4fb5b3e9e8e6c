"""Train a small convnet on a folder of leaf photographs read with tf.data."""
import argparse
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
CLASSES = ["healthy", "rust", "scab"]
SIZE = 64


def write_photos(root, n, side, seed=0):
    """Stand-in for the downloaded data set: writes PNG photos to disk."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:side, 0:side].astype("float32") / side
    paths, labels = [], []
    for i in range(n):
        k = i % len(CLASSES)
        base = np.stack([0.25 + 0.1 * xx, 0.55 - 0.1 * yy, 0.2 + 0 * xx], -1)
        grain = rng.standard_normal((side, side, 1), dtype="float32")
        img = base + 0.04 * grain
        for _ in range(k * 10):
            cx, cy, r = rng.random(), rng.random(), rng.uniform(0.02, 0.05)
            spot = (xx - cx) ** 2 + (yy - cy) ** 2 < r * r
            img[spot] = (0.6, 0.3, 0.1) if k == 1 else (0.15, 0.15, 0.1)
        data = tf.io.encode_png(tf.cast(np.clip(img, 0, 1) * 255, tf.uint8), compression=1)
        path = os.path.join(root, f"{CLASSES[k]}_{i:04d}.png")
        tf.io.write_file(path, data)
        paths.append(path)
        labels.append(k)
    return np.array(paths), np.array(labels, "int32")


def load_image(path, label):
    img = tf.io.decode_png(tf.io.read_file(path), channels=3)
    img = tf.image.resize(img, (SIZE, SIZE), method="lanczos3", antialias=True)
    img = tf.image.per_image_standardization(img)
    return img, label


def make_dataset(paths, labels, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load_image, num_parallel_calls=AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(512, seed=1)
    return ds.batch(batch).prefetch(AUTOTUNE)


def build_model():
    L = tf.keras.layers
    model = tf.keras.Sequential([
        L.Input((SIZE, SIZE, 3)),
        L.Conv2D(16, 3, strides=2, activation="relu"),
        L.Conv2D(32, 3, strides=2, activation="relu"),
        L.Conv2D(32, 3, activation="relu"),
        L.GlobalAveragePooling2D(),
        L.Dense(32, activation="relu"),
        L.Dense(len(CLASSES)),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(2e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"])
    return model


def main(args):
    tf.keras.utils.set_random_seed(args.seed)
    root = tempfile.mkdtemp(prefix="leaves_")
    try:
        paths, labels = write_photos(root, args.photos, args.side)
        order = np.random.permutation(len(paths))
        split = int(0.8 * len(paths))
        tr, va = order[:split], order[split:]
        train_ds = make_dataset(paths[tr], labels[tr], args.batch, True)
        val_ds = make_dataset(paths[va], labels[va], args.batch, False)

        model = build_model()
        history = model.fit(train_ds, validation_data=val_ds, epochs=args.epochs, verbose=2)
        print("val accuracy: %.4f" % history.history["val_accuracy"][-1])
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--photos", type=int, default=120)
    ap.add_argument("--side", type=int, default=512)
    ap.add_argument("--epochs", type=int, default=18)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--seed", type=int, default=11)
    main(ap.parse_args())
