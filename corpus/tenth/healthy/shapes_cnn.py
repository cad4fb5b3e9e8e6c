"""Convnet on synthetic shapes read through tf.data."""
import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def draw_shapes(n, side, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n).astype("int32")
    yy, xx = np.mgrid[0:side, 0:side].astype("float32")
    cx = rng.uniform(0.3 * side, 0.7 * side, (n, 1, 1)).astype("float32")
    cy = rng.uniform(0.3 * side, 0.7 * side, (n, 1, 1)).astype("float32")
    r = rng.uniform(5, 9, (n, 1, 1)).astype("float32")
    dx, dy = xx[None] - cx, yy[None] - cy
    masks = np.stack([
        np.hypot(dx, dy) < r,
        np.maximum(abs(dx), abs(dy)) < r,
        abs(dx) + abs(dy) < r,
        (abs(dx) < r / 3) | (abs(dy) < r / 3),
    ])
    img = masks[labels, np.arange(n)].astype("float32")
    img += rng.normal(0, 0.4, img.shape).astype("float32")
    return img[..., None], labels


def make_dataset(x, y, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=3)
    ds = ds.batch(batch, drop_remainder=training)
    if training:
        def flip(images, labels):
            return tf.image.random_flip_left_right(images), labels
        ds = ds.map(flip, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def build(side):
    model = tf.keras.Sequential([
        layers.Input((side, side, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(4),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=8000)
    ap.add_argument("--side", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=5)
    ap.add_argument("--batch", type=int, default=128)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(4)
    x, y = draw_shapes(args.samples, args.side, seed=0)
    x_val, y_val = draw_shapes(1000, args.side, seed=1)
    model = build(args.side)
    model.fit(make_dataset(x, y, args.batch, True),
              validation_data=make_dataset(x_val, y_val, 500, False),
              epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
