import os
import tempfile

import numpy as np
import tensorflow as tf


class RecordStore:
    """Shards of hourly vitals, one compressed archive per ward."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, ward):
        return os.path.join(self.folder, f"ward_{ward}.npz")

    def write(self, wards, patients, hours, signals, seed=8):
        rng = np.random.default_rng(seed)
        for w in range(wards):
            base = rng.normal(size=(patients, 1, signals))
            drift = np.cumsum(rng.normal(0, 0.2, (patients, hours, signals)), axis=1)
            vitals = np.round(base + drift, 2).astype("float32")
            label = (vitals[:, -6:, :3].mean(axis=(1, 2)) > 0.1).astype("float32")
            np.savez_compressed(self.path(w), vitals=vitals, label=label)

    def read(self, ward):
        with np.load(self.path(ward)) as z:
            return z["vitals"], z["label"]


class VitalsSequence(tf.keras.utils.Sequence):
    def __init__(self, store, wards, batch_size, window, **kwargs):
        super().__init__(**kwargs)
        self.store = store
        self.wards = list(wards)
        self.batch_size = batch_size
        self.window = window
        self.index = []
        for w in self.wards:
            n = len(store.read(w)[1])
            self.index += [(w, s) for s in range(0, n, batch_size)]

    def __len__(self):
        return len(self.index)

    def __getitem__(self, i):
        ward, start = self.index[i]
        vitals, label = self.store.read(ward)
        rows = slice(start, start + self.batch_size)
        x = vitals[rows, -self.window :]
        x = (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1e-3)
        return np.concatenate([x, vitals[rows, -self.window :]], axis=-1), label[rows]


def build(window, channels):
    inputs = tf.keras.Input((window, channels))
    x = tf.keras.layers.Conv1D(16, 5, strides=2, activation="relu")(inputs)
    x = tf.keras.layers.Conv1D(16, 5, strides=2, activation="relu")(x)
    x = tf.keras.layers.GlobalMaxPooling1D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1, activation="sigmoid")(x))


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(15)
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(folder)
        store.write(wards=4, patients=320, hours=200, signals=10)
        train = VitalsSequence(store, range(3), batch_size=16, window=48)
        val = VitalsSequence(store, [3], batch_size=32, window=48)
        model = build(48, 20)
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        hist = model.fit(
            train, validation_data=val, epochs=6, shuffle=False, verbose=0
        ).history
    print("batches", len(train), len(val))
    print("loss %.3f %.3f" % (hist["loss"][0], hist["loss"][-1]))
    print("val acc %.2f" % hist["val_accuracy"][-1])
