"""Train on images kept in compressed archives on disk."""
import os
import tempfile

import numpy as np
import tensorflow as tf

PER_FILE = 64


def write_archives(folder, files):
    rng = np.random.default_rng(40)
    names = []
    for i in range(files):
        img = rng.integers(0, 255, size=(PER_FILE, 48, 48, 3), dtype=np.uint8)
        lab = rng.integers(0, 5, size=PER_FILE)
        img[np.arange(PER_FILE), lab * 8] //= 3
        name = os.path.join(folder, f"chunk{i}.npz")
        np.savez_compressed(name, image=img, label=lab)
        names.append(name)
    return names


class ArchiveSequence(tf.keras.utils.PyDataset):
    def __init__(self, names, batch, **kw):
        super().__init__(**kw)
        self.names, self.batch = names, batch
        self.order = np.random.default_rng(0).permutation(len(names) * PER_FILE)

    def __len__(self):
        return len(self.order) // self.batch

    def read(self, index):
        with np.load(self.names[index // PER_FILE]) as z:
            return z["image"][index % PER_FILE], z["label"][index % PER_FILE]

    def __getitem__(self, i):
        pick = self.order[i * self.batch:(i + 1) * self.batch]
        images, labels = zip(*[self.read(k) for k in pick])
        return np.stack(images).astype("float32") / 255.0, np.array(labels)


def main():
    tf.keras.utils.set_random_seed(40)
    with tempfile.TemporaryDirectory() as folder:
        seq = ArchiveSequence(write_archives(folder, 12), 32)
        model = tf.keras.Sequential([
            tf.keras.layers.Input((48, 48, 3)),
            tf.keras.layers.Conv2D(8, 5, strides=2, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(5),
        ])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        hist = model.fit(seq, epochs=7, verbose=0, shuffle=False)
    print("loss %.4f" % hist.history["loss"][-1])


main()
