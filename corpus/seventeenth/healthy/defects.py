"""Find scratches on rendered surface patches with a compact CNN."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE = 48


def render_patches(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    images = rng.normal(0.5, 0.08, size=(n, SIZE, SIZE)).astype("float32")
    labels = rng.integers(0, 2, n).astype("int32")
    angle = rng.uniform(0, np.pi, n)[:, None, None]
    offset = rng.uniform(-10, 10, n)[:, None, None]
    distance = np.abs((xx - SIZE / 2) * np.cos(angle) + (yy - SIZE / 2) * np.sin(angle) - offset)
    images += labels[:, None, None] * 0.35 * (distance < 1.0)
    return images[..., None].astype("float32"), labels


def augment(x, y):
    x = tf.image.random_flip_left_right(x)
    x = tf.image.random_flip_up_down(x)
    x = x + tf.random.uniform([tf.shape(x)[0], 1, 1, 1], -0.1, 0.1)
    return x, y


def pipeline(x, y, batch_size, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=0)
    ds = ds.batch(batch_size)
    if training:
        ds = ds.map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def build_model():
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(2),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--patches", type=int, default=2400)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()

    train = pipeline(*render_patches(args.patches, 0), 64, True)
    valid = pipeline(*render_patches(400, 1), 200, False)
    model = build_model()
    history = model.fit(train, validation_data=valid, epochs=args.epochs, verbose=0)
    print("loss", [round(v, 3) for v in history.history["loss"]],
          "val_accuracy", [round(v, 3) for v in history.history["val_accuracy"]])


if __name__ == "__main__":
    main()
