"""Train on image patches kept in a compressed HDF5 file, by way of keras PyDataset."""
import argparse
import math
import os
import shutil
import tempfile

import h5py
import numpy as np
import tensorflow as tf
import keras
from keras import layers


def build_file(path, n, side, seed=0):
    """Patches of two kinds of texture. Written once by the microscope software."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:side, 0:side].astype(np.float32)
    with h5py.File(path, "w") as f:
        x = f.create_dataset("patches", (n, side, side, 1), "u1",
                             chunks=(512, side, side, 1), compression="gzip")
        y = f.create_dataset("label", (n,), "u1")
        for i in range(0, n, 512):
            m = min(512, n - i)
            lab = rng.integers(0, 2, m)
            ang = rng.uniform(0, np.pi, (m, 1, 1))
            freq = np.where(lab == 0, 0.5, 0.8)[:, None, None]
            wave = np.sin(freq * (np.cos(ang) * xx + np.sin(ang) * yy))
            noise = rng.normal(0, 0.6, wave.shape)
            img = np.clip((wave + noise) * 40 + 128, 0, 255).astype(np.uint8)
            x[i:i + m] = img[..., None]
            y[i:i + m] = lab


class PatchSequence(keras.utils.PyDataset):
    def __init__(self, path, batch_size, seed=0, **kw):
        super().__init__(**kw)
        self.file = h5py.File(path, "r")
        # read each compressed chunk once; the bytes fit into memory
        self.x = self.file["patches"][:]
        self.y = self.file["label"][:]
        self.batch_size = batch_size
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(self.y))

    def __len__(self):
        return math.ceil(len(self.y) / self.batch_size)

    def __getitem__(self, i):
        # h5py wants increasing indices
        idx = np.sort(self.order[i * self.batch_size:(i + 1) * self.batch_size])
        x = self.x[idx].astype(np.float32) / 255.0
        return x, self.y[idx].astype(np.float32)

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.y))

    def close(self):
        self.file.close()


def model_fn(side):
    m = keras.Sequential([
        keras.Input((side, side, 1)),
        layers.Conv2D(8, 3, strides=2, activation="relu"),
        layers.Conv2D(16, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(1, activation="sigmoid")])
    m.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return m


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--patches", type=int, default=6144)
    p.add_argument("--side", type=int, default=48)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--epochs", type=int, default=2)
    args = p.parse_args()
    keras.utils.set_random_seed(9)
    tmp = tempfile.mkdtemp()
    try:
        path = os.path.join(tmp, "patches.h5")
        build_file(path, args.patches, args.side)
        print("file: %.1f MB" % (os.path.getsize(path) / 1e6))
        seq = PatchSequence(path, args.batch)
        model = model_fn(args.side)
        h = model.fit(seq, epochs=args.epochs, verbose=2, shuffle=False)
        print("final loss %.4f" % h.history["loss"][-1])
        seq.close()
    finally:
        shutil.rmtree(tmp)


if __name__ == "__main__":
    main()
