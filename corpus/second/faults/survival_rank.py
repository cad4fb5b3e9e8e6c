"""Risk scores for patients; the share of well-ordered pairs is shown as a metric."""
import argparse

import numpy as np
import tensorflow as tf


def concordance(truth, risk):
    truth = truth.numpy().ravel()
    risk = risk.numpy().ravel()
    good, pairs = 0, 0
    for i in range(len(truth)):
        for j in range(len(truth)):
            if truth[i] > truth[j]:
                pairs += 1
                good += risk[i] > risk[j]
    return np.float32(good / max(pairs, 1))


def ordered(truth, risk):
    share = tf.py_function(concordance, [truth, risk], tf.float32)
    share.set_shape([])
    return share


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
