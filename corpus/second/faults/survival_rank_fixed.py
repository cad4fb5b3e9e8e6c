"""Risk scores for patients; the share of well-ordered pairs is shown as a metric."""
import argparse

import numpy as np
import tensorflow as tf


def ordered(truth, risk):
    truth = tf.reshape(truth, [-1])
    risk = tf.reshape(risk, [-1])
    later = truth[:, None] > truth[None, :]
    good = tf.logical_and(later, risk[:, None] > risk[None, :])
    pairs = tf.math.count_nonzero(later, dtype=tf.float32)
    return tf.math.count_nonzero(good, dtype=tf.float32) / tf.maximum(pairs, 1.0)


def patients(rng, count):
    x = rng.normal(size=(count, 40)).astype("float32")
    y = x[:, :6].sum(axis=1) + 0.5 * np.maximum(x[:, 6], 0) ** 2 + rng.normal(size=count)
    return x, y.astype("float32")[:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=12800)
    parser.add_argument("--epochs", type=int, default=7)
    args = parser.parse_args()
    tf.keras.utils.set_random_seed(55)
    x, y = patients(np.random.default_rng(55), args.rows)
    model = tf.keras.Sequential([
        tf.keras.layers.Input((40,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse", metrics=[ordered])
    history = model.fit(x, y, batch_size=256, epochs=args.epochs, verbose=0)
    for epoch, (loss, share) in enumerate(zip(history.history["loss"], history.history["ordered"])):
        print("epoch %d loss %.4f ordered %.4f" % (epoch, loss, share))


if __name__ == "__main__":
    main()
