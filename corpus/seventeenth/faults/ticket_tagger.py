"""GRU tagger for support tickets; precision, recall and F1 on held-out tickets after each epoch."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB = 3000
LENGTH = 40


def make_tickets(n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, VOCAB, size=(n, LENGTH))
    urgent = (tokens < 60).sum(axis=1) + 0.3 * rng.normal(size=n)
    return tokens.astype("int32"), (urgent > 1.0).astype("float32")


def build_model():
    tf.keras.utils.set_random_seed(8)
    model = tf.keras.Sequential([
        layers.Input((LENGTH,), dtype="int32"),
        layers.Embedding(VOCAB, 32),
        layers.GRU(64),
        layers.Dense(32, activation="relu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
    return model


def confusion(y_true, y_pred):
    tp = float(np.sum((y_pred == 1) & (y_true == 1)))
    fp = float(np.sum((y_pred == 1) & (y_true == 0)))
    fn = float(np.sum((y_pred == 0) & (y_true == 1)))
    return tp, fp, fn


class HeldOut:
    def __init__(self, x, y, batch_size=128):
        self.x = x
        self.y = y
        self.batch_size = batch_size

    def labels(self, model, epoch):
        probs = model.predict(self.x, batch_size=self.batch_size, verbose=0)
        return (probs[:, 0] > 0.5).astype("float32")


class HeldOutMetric(tf.keras.callbacks.Callback):
    name = None

    def __init__(self, held_out):
        super().__init__()
        self.held_out = held_out
        self.values = []

    def score(self, tp, fp, fn):
        raise NotImplementedError

    def on_epoch_end(self, epoch, logs=None):
        y_pred = self.held_out.labels(self.model, epoch)
        value = self.score(*confusion(self.held_out.y, y_pred))
        self.values.append(value)
        if logs is not None:
            logs[f"val_{self.name}"] = value


class Precision(HeldOutMetric):
    name = "precision"

    def score(self, tp, fp, fn):
        return tp / max(tp + fp, 1.0)


class Recall(HeldOutMetric):
    name = "recall"

    def score(self, tp, fp, fn):
        return tp / max(tp + fn, 1.0)


class F1(HeldOutMetric):
    name = "f1"

    def score(self, tp, fp, fn):
        return 2 * tp / max(2 * tp + fp + fn, 1.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--train", type=int, default=1000)
    parser.add_argument("--held-out", type=int, default=6000)
    args = parser.parse_args()

    x, y = make_tickets(args.train, 0)
    held_out = HeldOut(*make_tickets(args.held_out, 1))
    metrics = [Precision(held_out), Recall(held_out), F1(held_out)]
    model = build_model()
    model.fit(x, y, epochs=args.epochs, batch_size=64, callbacks=metrics, verbose=0)
    for metric in metrics:
        print(metric.name, [round(v, 4) for v in metric.values])


if __name__ == "__main__":
    main()
