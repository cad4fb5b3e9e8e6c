"""Repeated k-fold estimate for a small assay-response network."""
import argparse
import statistics
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def assay_data(n, d, rng):
    x = rng.normal(size=(n, d))
    w = np.zeros(d)
    w[:6] = [1.2, -0.8, 0.6, 0.9, -1.1, 0.4]
    logit = x @ w + 0.7 * x[:, 0] * x[:, 1]
    return x.astype("float32"), (rng.random(n) < 1 / (1 + np.exp(-logit))).astype("float32")


def build(d, hidden, lr):
    model = keras.Sequential([
        keras.Input((d,)),
        keras.layers.Dense(hidden, activation="relu"),
        keras.layers.Dropout(0.2),
        keras.layers.Dense(hidden, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(lr), loss="binary_crossentropy",
                  metrics=["accuracy"])
    return model


def reset(model, weights):
    model.set_weights(weights)
    for v in model.optimizer.variables:
        if v is not model.optimizer.learning_rate:
            v.assign(tf.zeros_like(v))


def folds(n, k, rng):
    order = rng.permutation(n)
    size = n // k
    for i in range(k):
        test = order[i * size : (i + 1) * size]
        yield np.setdiff1d(order, test, assume_unique=True), test


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--samples", type=int, default=480)
    ap.add_argument("--features", type=int, default=30)
    ap.add_argument("--folds", type=int, default=6)
    ap.add_argument("--repeats", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--seed", type=int, default=25)
    args = ap.parse_args()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, y = assay_data(args.samples, args.features, rng)

    scores, start = [], time.time()
    model = build(args.features, args.hidden, 3e-3)
    initial = model.get_weights()
    for repeat in range(args.repeats):
        for train, test in folds(len(x), args.folds, rng):
            model = build(args.features, args.hidden, 3e-3)
            reset(model, initial)
            model.fit(x[train], y[train], batch_size=16, epochs=args.epochs, verbose=0)
            scores.append(model.evaluate(x[test], y[test], batch_size=128, verbose=0)[1])
        print(f"repeat {repeat + 1}: {np.mean(scores[-args.folds:]):.3f}")
    print(f"accuracy {statistics.mean(scores):.3f} +/- {statistics.stdev(scores):.3f} over "
          f"{len(scores)} fits, {time.time() - start:.1f}s")


if __name__ == "__main__":
    main()
