"""Support ticket routing: hashed word ids -> team.

Our nodes are preemptible, so we do not want to lose work; checkpoints go to local disk
and the best one is shipped afterwards.
"""
import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

TEAMS = 12


def parse():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--buckets", type=int, default=120_000)
    ap.add_argument("--dim", type=int, default=64)
    ap.add_argument("--words", type=int, default=40)
    ap.add_argument("--tickets", type=int, default=12_800)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=3)
    return ap.parse_args()


def tickets(n, words, buckets):
    rng = np.random.default_rng(6)
    team = rng.integers(0, TEAMS, n)
    jargon = team[:, None] * 900 + rng.integers(0, 900, (n, words))
    general = rng.integers(20_000, buckets, (n, words))
    ids = np.where(rng.random((n, words)) < 0.3, jargon, general)
    return ids.astype("int32"), team.astype("int32")


def router(buckets, dim, words):
    return keras.Sequential([
        keras.Input((words,), dtype="int32"),
        keras.layers.Embedding(buckets, dim),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(TEAMS, activation="softmax"),
    ])


class Progress(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.t0 = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print("epoch", epoch, {k: round(v, 4) for k, v in logs.items()},
              "%.1f s" % (time.time() - self.t0), flush=True)


def main():
    args = parse()
    keras.utils.set_random_seed(6)
    x, y = tickets(args.tickets, args.words, args.buckets)
    model = router(args.buckets, args.dim, args.words)
    model.compile(
        optimizer=keras.optimizers.SGD(0.5),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    with tempfile.TemporaryDirectory() as out:
        path = os.path.join(out, "router.keras")
        backup = keras.callbacks.ModelCheckpoint(
            path, monitor="loss", mode="min", save_best_only=False,
            save_freq="epoch")
        model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs,
                  verbose=0, callbacks=[backup, Progress()])
        restored = keras.models.load_model(path)
        loss, acc = restored.evaluate(x[:2000], y[:2000], verbose=0)
        print("restored: loss %.4f accuracy %.4f, file %.1f MB" % (
            loss, acc, os.path.getsize(path) / 1e6))


if __name__ == "__main__":
    main()
