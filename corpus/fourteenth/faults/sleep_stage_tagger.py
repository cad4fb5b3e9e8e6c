"""Label every second of a night recording with a sleep stage (sequence tagging).

Features per second are ready (24 band powers), the model is CNN + per-step heads.
From a course notebook; only the data are replaced by synthetic ones.
"""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers

STAGES = ["wake", "rem", "n1", "n2", "n3"]


def synthetic_night(n, steps, bands, seed):
    rng = np.random.default_rng(seed)
    profile = rng.normal(0, 1, (len(STAGES), bands))
    stay = rng.random((n, steps)) < 0.96
    fresh = rng.integers(0, len(STAGES), (n, steps))
    y = fresh.copy()
    for t in range(1, steps):
        y[:, t] = np.where(stay[:, t], y[:, t - 1], fresh[:, t])
    x = profile[y] + 1.8 * rng.standard_normal((n, steps, bands))
    return x.astype(np.float32), y.astype(np.int32)


def build(steps, bands, width):
    inp = keras.Input(shape=(steps, bands))
    # the same small network for each second
    x = layers.TimeDistributed(layers.Dense(width, activation="relu"))(inp)
    x = layers.TimeDistributed(layers.LayerNormalization())(x)
    x = layers.Conv1D(width, 7, padding="same", activation="relu")(x)
    x = layers.TimeDistributed(layers.Dense(width, activation="relu"))(x)
    out = layers.TimeDistributed(layers.Dense(len(STAGES), activation="softmax"))(x)
    return keras.Model(inp, out)


def confusion(y, p):
    m = np.zeros((len(STAGES), len(STAGES)), int)
    np.add.at(m, (y.ravel(), p.ravel()), 1)
    return m


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--nights", type=int, default=640)
    ap.add_argument("--steps", type=int, default=60)
    ap.add_argument("--bands", type=int, default=24)
    ap.add_argument("--width", type=int, default=32)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=3)
    a = ap.parse_args()

    keras.utils.set_random_seed(12)
    x, y = synthetic_night(a.nights, a.steps, a.bands, 0)
    xv, yv = synthetic_night(a.batch * 4, a.steps, a.bands, 0)

    model = build(a.steps, a.bands, a.width)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["sparse_categorical_accuracy"],
    )
    print("parameters:", model.count_params())
    model.fit(x, y, batch_size=a.batch, epochs=a.epochs, verbose=2)

    p = model.predict(xv, batch_size=a.batch, verbose=0).argmax(-1)
    m = confusion(yv, p)
    recall = m.diagonal() / m.sum(1).clip(1)
    for name, r in zip(STAGES, recall):
        print("%-5s recall %.3f" % (name, r))
    print("accuracy %.4f" % (m.trace() / m.sum()))


if __name__ == "__main__":
    main()
