"""Train a small 3D network on blocks of CT volumes kept in one compressed .npz file."""
import argparse
import os
import tempfile

import keras
import numpy as np


class VolumeSequence(keras.utils.PyDataset):
    """Batches of volumes and masks from an archive."""

    def __init__(self, path, batch_size=8, **kwargs):
        super().__init__(**kwargs)
        self.archive = np.load(path)
        self.batch_size = batch_size
        self.count = len(self.archive["labels"])
        self.order = np.arange(self.count)

    def __len__(self):
        return self.count // self.batch_size

    def __getitem__(self, index):
        picked = np.sort(self.order[index * self.batch_size:(index + 1) * self.batch_size])
        volumes = self.archive["volumes"][picked]
        labels = self.archive["labels"][picked]
        return volumes.astype("float32")[..., None] / 255.0, labels

    def on_epoch_end(self):
        np.random.default_rng(0).shuffle(self.order)


def write_archive(path, count, side):
    rng = np.random.default_rng(40)
    labels = rng.integers(0, 2, count)
    volumes = rng.integers(0, 60, (count, side, side, side), dtype="uint8")
    volumes[labels == 1, side // 4:side // 2, side // 4:side // 2] += 90
    np.savez_compressed(path, volumes=volumes, labels=labels.astype("float32"))


def build(side):
    return keras.Sequential([
        keras.layers.Input((side, side, side, 1)),
        keras.layers.Conv3D(8, 3, strides=2, activation="relu"),
        keras.layers.Conv3D(16, 3, strides=2, activation="relu"),
        keras.layers.GlobalAveragePooling3D(),
        keras.layers.Dense(1, activation="sigmoid"),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--volumes", type=int, default=400)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    keras.utils.set_random_seed(40)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scans.npz")
        write_archive(path, options.volumes, options.side)
        data = VolumeSequence(path)
        model = build(options.side)
        model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
        model.fit(data, epochs=options.epochs, verbose=2)


if __name__ == "__main__":
    main()
