import os
import tempfile

import keras
import numpy as np

FOLDER = tempfile.mkdtemp()
PATH = os.path.join(FOLDER, "spectra.npz")
made = np.random.default_rng(0)
np.savez_compressed(
    PATH,
    counts=made.poisson(3, (4000, 300)).astype("float32"),
    grade=made.random((4000, 1), "float32"),
)


class Spectra(keras.utils.PyDataset):
    def __init__(self, path, size):
        super().__init__()
        self.path, self.size = path, size

    def __len__(self):
        return 4000 // self.size

    def __getitem__(self, index):
        rows = slice(index * self.size, (index + 1) * self.size)
        with np.load(self.path) as archive:  # FAULT
            counts, grade = archive["counts"], archive["grade"]
        return np.sqrt(counts[rows]), grade[rows]


model = keras.Sequential(
    [keras.Input((300,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
)
model.compile("adam", "mse")
history = model.fit(Spectra(PATH, 40), epochs=3, verbose=0)
print("loss", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "A PyDataset opens and decompresses the whole archive for every batch"
# codes = ["INP014"]
# families = ["input"]
# source = "Stack Overflow questions on a Keras Sequence whose __getitem__ calls np.load, and on NpzFile that reads at each access"
# ///
