"""Learn ATAC-seq peak heights from sequence and smoothed coverage; all tracks live in one HDF5 file."""
import os
import tempfile

import h5py
import numpy as np
import tensorflow as tf

PEAKS, WIDTH, CHUNK, BATCH = 1300, 500, 100, 50


def write_tracks(path, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, size=(PEAKS, WIDTH))
    onehot = np.eye(4, dtype="float32")[codes]
    profile = np.exp(-0.5 * ((np.arange(WIDTH) - WIDTH / 2) / 60.0) ** 2)
    height = rng.gamma(2.0, 3.0, size=(PEAKS, 1))
    coverage = rng.poisson(height * profile).astype("float32")[..., None]
    with h5py.File(path, "w") as f:
        f.create_dataset("inputs", data=np.concatenate([onehot, coverage], axis=-1),
                         chunks=(CHUNK, WIDTH, 5), compression="gzip", compression_opts=1, shuffle=True)
        f.create_dataset("height", data=height[:, 0].astype("float32"))


class PeakSequence(tf.keras.utils.PyDataset):
    """Batches of peaks in a new random order every epoch."""

    def __init__(self, path, peaks, batch_size, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.h5 = h5py.File(path, "r")
        self.inputs = self.h5["inputs"]
        self.height = self.h5["height"][:]
        self.peaks = np.array(peaks)
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def on_epoch_end(self):
        self.rng.shuffle(self.peaks)

    def __len__(self):
        return -(-len(self.peaks) // self.batch_size)

    def __getitem__(self, i):
        rows = self.peaks[i * self.batch_size:(i + 1) * self.batch_size]
        return np.stack([self.inputs[r] for r in rows]), np.log1p(self.height[rows])


def build_model():
    inputs = tf.keras.Input((WIDTH, 5))
    x = tf.keras.layers.Conv1D(24, 15, strides=4, padding="same", activation="relu")(inputs)
    x = tf.keras.layers.Conv1D(32, 7, strides=2, padding="same", activation="relu")(x)
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))


def main():
    tf.keras.utils.set_random_seed(6)
    path = os.path.join(tempfile.mkdtemp(), "tracks.h5")
    write_tracks(path)
    model = build_model()
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss="mse")
    train = PeakSequence(path, np.arange(PEAKS - 300), BATCH, seed=1)
    valid = PeakSequence(path, np.arange(PEAKS - 300, PEAKS), BATCH, seed=2)
    history = model.fit(train, validation_data=valid, epochs=2, shuffle=False, verbose=0)
    print("loss %.5f  validation loss %.5f" % (history.history["loss"][-1], history.history["val_loss"][-1]))


if __name__ == "__main__":
    main()
