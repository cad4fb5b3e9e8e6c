"""Text-topic classifier with a large bag-of-hashed-features table; keeps checkpoints while training."""
import argparse
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def hashed_docs(n, buckets, topics, length, rng):
    topic = rng.integers(0, topics, n)
    common = rng.zipf(1.4, (n, length)) % buckets
    special = topic[:, None] * 997 + rng.integers(0, 400, (n, length))
    use = rng.random((n, length)) < 0.2
    return np.where(use, special % buckets, common).astype("int32"), topic.astype("int32")


def make_model(buckets, dim, topics, length):
    inp = keras.Input((length,), dtype="int32")
    x = layers.Embedding(buckets, dim, name="hash_table")(inp)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(topics, activation="softmax")(x))


class KeepLast(keras.callbacks.Callback):
    """Removes old checkpoint files so that only the newest `n` stay on disk."""

    def __init__(self, folder, n):
        super().__init__()
        self.folder, self.n, self.seen = folder, n, 0

    def on_epoch_end(self, epoch, logs=None):
        files = sorted((os.path.join(self.folder, f) for f in os.listdir(self.folder)),
                       key=os.path.getmtime)
        self.seen = max(self.seen, len(files))
        for old in files[: -self.n]:
            os.remove(old)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--docs", type=int, default=16000)
    ap.add_argument("--buckets", type=int, default=40000)
    ap.add_argument("--dim", type=int, default=32)
    ap.add_argument("--topics", type=int, default=12)
    ap.add_argument("--length", type=int, default=60)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    keras.utils.set_random_seed(55)
    x, y = hashed_docs(args.docs, args.buckets, args.topics, args.length, np.random.default_rng(55))
    n_val = args.docs // 8
    train = (tf.data.Dataset.from_tensor_slices((x[n_val:], y[n_val:])).shuffle(8192, seed=1)
             .batch(args.batch).prefetch(tf.data.AUTOTUNE))
    valid = tf.data.Dataset.from_tensor_slices((x[:n_val], y[:n_val])).batch(512)

    model = make_model(args.buckets, args.dim, args.topics, args.length)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy",
                  metrics=["accuracy"])
    folder = tempfile.mkdtemp(prefix="topics_")
    callbacks = [
        keras.callbacks.ModelCheckpoint(os.path.join(folder, "model.keras"), save_freq=2),
        KeepLast(folder, 2),
    ]
    try:
        hist = model.fit(train, validation_data=valid, epochs=args.epochs, callbacks=callbacks, verbose=0)
        for e, (a, v) in enumerate(zip(hist.history["accuracy"], hist.history["val_accuracy"]), 1):
            print(f"epoch {e}: accuracy {a:.3f} val {v:.3f}")
        newest = max(os.listdir(folder), key=lambda f: os.path.getmtime(os.path.join(folder, f)))
        restored = keras.models.load_model(os.path.join(folder, newest))
        print(f"restored {newest}: val accuracy {restored.evaluate(valid, verbose=0)[1]:.3f}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
