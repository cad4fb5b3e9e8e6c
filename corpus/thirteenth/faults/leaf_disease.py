#!/usr/bin/env python3
"""Leaf disease classifier, reading photos from a folder per class (field camera, 1200x900 JPEG)."""
import argparse
import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CLASSES = ["healthy", "rust", "mildew"]
SIDE = 64


def photograph(folder, per_class, seed=0):
    """the script makes its own photos so that anyone can run it"""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:900:4, 0:1200:4].astype("float32")
    for c, name in enumerate(CLASSES):
        (folder / name).mkdir()
        for i in range(per_class):
            base = 90 + 40 * np.sin(x / rng.uniform(80, 200)) * np.cos(y / rng.uniform(80, 200))
            img = np.stack([0.5 * base, base, 0.3 * base], -1)
            if c:
                period = (0, 45.0, 90.0)[c]
                spots = (np.sin(x / period * 6.28) * np.sin(y / period * 6.28 + i)) > 0.6
                img[spots] = (150, 80, 20) if c == 1 else (190, 190, 180)
            img += rng.integers(-12, 12, (225, 300, 1))
            img = np.clip(img, 0, 255).astype("uint8").repeat(4, 0).repeat(4, 1)
            jpg = tf.io.encode_jpeg(img, quality=90)
            tf.io.write_file(str(folder / name / f"{i:04d}.jpg"), jpg)


def load(path, label):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    img = tf.image.resize(img, (SIDE, SIDE), antialias=True)
    return img / 255.0, label


def augment(img, label):
    img = tf.image.random_flip_left_right(img, seed=3)
    img = tf.image.random_brightness(img, 0.1, seed=4)
    return img, label


def pipeline(files, labels, training, batch=16):
    ds = tf.data.Dataset.from_tensor_slices((files, labels))
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    if training:
        ds = ds.shuffle(len(files), seed=2).map(augment)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def model():
    return tf.keras.Sequential([
        layers.Input((SIDE, SIDE, 3)),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.Conv2D(24, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(len(CLASSES)),
    ])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--per-class", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=24)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(6)
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        photograph(folder, args.per_class)
        files = sorted(str(p) for p in folder.glob("*/*.jpg"))
        labels = [CLASSES.index(pathlib.Path(f).parent.name) for f in files]
        order = np.random.default_rng(1).permutation(len(files))
        files, labels = np.array(files)[order], np.array(labels, "int32")[order]
        cut = int(0.8 * len(files))
        train = pipeline(files[:cut], labels[:cut], True)
        test = pipeline(files[cut:], labels[cut:], False)
        m = model()
        m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
        h = m.fit(train, validation_data=test, epochs=args.epochs, verbose=2)
    print("last val accuracy:", round(h.history["val_accuracy"][-1], 3))


if __name__ == "__main__":
    main()
