"""Quality report for the weld defect classifier.

Loads the model exported by the training job, scores the hold-out scans and picks the
operating point with the best F1. (Model and scans are made up on the spot here.)
"""
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models


def export_model(path):
    tf.keras.utils.set_random_seed(31)
    m = models.Sequential([
        layers.Input((64, 64, 1)),
        layers.Conv2D(16, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, activation="relu", padding="same"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    m.compile(loss="binary_crossentropy")
    m.save(path)


def scans(n):
    rng = np.random.default_rng(12)
    x = rng.normal(0, 0.3, (n, 64, 64, 1)).astype("float32")
    y = rng.random(n) < 0.3
    for i in np.flatnonzero(y):
        r, c = rng.integers(4, 50, 2)
        x[i, r : r + 10, c : c + 4] += 1.5
    return x, y.astype(int)


class OperatingPoint:
    def __init__(self, model, x, y):
        self.y = y
        score = model.predict(x, batch_size=128, verbose=0)[:, 0]
        self.score = (score - score.min()) / (score.max() - score.min())

    def confusion(self, threshold):
        flagged = (self.score > threshold).astype(int)
        tp = int(np.sum((flagged == 1) & (self.y == 1)))
        fp = int(np.sum((flagged == 1) & (self.y == 0)))
        fn = int(np.sum((flagged == 0) & (self.y == 1)))
        return tp, fp, fn

    def f1(self, threshold):
        tp, fp, fn = self.confusion(threshold)
        return 2 * tp / max(1, 2 * tp + fp + fn)

    def sweep(self, thresholds):
        best = (-1.0, None)
        for i, t in enumerate(thresholds):
            value = self.f1(t)
            best = max(best, (value, t))
            if i % 10 == 0:
                print(f"  threshold {t:.2f}: F1 {value:.4f}", flush=True)
        return best


def main():
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "weld.keras")
        export_model(path)
        model = models.load_model(path)
    x, y = scans(1000)
    print("scans", x.shape, "defects", y.sum())
    t0 = time.time()
    value, t = OperatingPoint(model, x, y).sweep(np.arange(0.02, 1.0, 0.02))
    print(f"best F1 {value:.4f} at {t:.2f}  ({time.time() - t0:.1f} s)")


if __name__ == "__main__":
    main()
