"""Ship-type classification from AIS tracks (1-D CNN), with a callback that keeps a run log for a dashboard."""
import argparse
import datetime
import json
import os
import platform
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

TYPES = ["cargo", "tanker", "fishing", "passenger"]


def ais_tracks(n, length, rng):
    kind = rng.integers(0, len(TYPES), n)
    speed = np.array([12, 10, 5, 18])[kind][:, None] + rng.normal(0, 1.5, (n, length))
    turn = np.array([0.01, 0.01, 0.25, 0.03])[kind][:, None] * rng.normal(0, 1, (n, length))
    course = np.cumsum(turn, axis=1)
    x = np.stack([speed / 10, np.cos(course), np.sin(course), turn * 4], -1)
    return x.astype("float32"), kind


class RunLog(keras.callbacks.Callback):
    """Collects per-batch values and writes them where the dashboard picks them up."""

    def __init__(self, path, config):
        super().__init__()
        self.path = path
        self.record = {"host": platform.node(), "config": config, "batches": [], "epochs": []}

    def _flush(self):
        with open(self.path, "w") as f:
            json.dump(self.record, f, indent=1)

    def on_train_batch_end(self, batch, logs=None):
        self.record["batches"].append({
            "time": datetime.datetime.now().isoformat(),
            "batch": batch,
            "loss": float(logs["loss"]),
            "accuracy": float(logs["accuracy"]),
            "lr": float(self.model.optimizer.learning_rate.numpy()),
        })

    def on_epoch_end(self, epoch, logs=None):
        self.record["epochs"].append({k: float(v) for k, v in logs.items()})
        self._flush()


def build(length):
    return keras.Sequential([
        keras.Input((length, 4)),
        layers.Conv1D(16, 5, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(len(TYPES), activation="softmax"),
    ])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tracks", type=int, default=8000)
    ap.add_argument("--length", type=int, default=64)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=2)
    args = ap.parse_args()
    keras.utils.set_random_seed(61)
    x, y = ais_tracks(args.tracks, args.length, np.random.default_rng(61))
    n_val = args.tracks // 10
    model = build(args.length)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    path = os.path.join(tempfile.mkdtemp(), "run.json")
    log = RunLog(path, vars(args))
    model.fit(x[n_val:], y[n_val:], validation_data=(x[:n_val], y[:n_val]), batch_size=args.batch,
              validation_batch_size=600, epochs=args.epochs, callbacks=[log], verbose=0)
    with open(path) as f:
        record = json.load(f)
    print(f"{len(record['batches'])} batches logged, file {os.path.getsize(path) / 1e3:.0f} kB")
    for e, entry in enumerate(record["epochs"], 1):
        print(f"epoch {e}: loss {entry['loss']:.4f} val_accuracy {entry['val_accuracy']:.3f}")
    pred = model.predict(x[:n_val], batch_size=600, verbose=0).argmax(1)
    print({t: round(float(np.mean(pred[y[:n_val] == k] == k)), 3) for k, t in enumerate(TYPES)})


if __name__ == "__main__":
    main()
