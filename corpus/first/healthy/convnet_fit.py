"""Convolutional classifier on images held in memory."""
import numpy as np
import tensorflow as tf


def images(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, size=n)
    x = rng.standard_normal((n, 32, 32, 3), dtype=np.float32) * 0.4
    for k in range(10):
        x[y == k, 3 * k:3 * k + 3, :, k % 3] += 0.8
    return x, y


def build():
    L = tf.keras.layers
    return tf.keras.Sequential([
        L.Input((32, 32, 3)),
        L.Conv2D(32, 3, padding="same", activation="relu"),
        L.MaxPool2D(),
        L.Conv2D(64, 3, padding="same", activation="relu"),
        L.MaxPool2D(),
        L.Conv2D(64, 3, padding="same", activation="relu"),
        L.GlobalAveragePooling2D(),
        L.Dense(10),
    ])


def main():
    tf.keras.utils.set_random_seed(6)
    x, y = images(6400, 6)
    xv, yv = images(640, 7)
    model = build()
    model.compile(optimizer="adam", metrics=["accuracy"],
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    h = model.fit(x, y, batch_size=128, epochs=4, validation_data=(xv, yv), validation_batch_size=320, verbose=2)
    print("val accuracy %.3f" % h.history["val_accuracy"][-1])


main()
