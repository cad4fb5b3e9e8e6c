import os
import tempfile

import keras
import numpy as np

FOLDER = tempfile.mkdtemp()
dice = np.random.default_rng(4)
for number in range(6):
    x = dice.normal(size=(1024, 256)).astype("float32")
    np.savez(os.path.join(FOLDER, f"part{number}.npz"), x=x, y=(x[:, :1] > 0).astype("float32"))


def batches(epochs, size=128):
    for _ in range(epochs):
        for name in dice.permutation(sorted(os.listdir(FOLDER))):
            with np.load(os.path.join(FOLDER, name)) as part:
                x, y = part["x"], part["y"]
            for begin in range(0, len(x), size):
                yield x[begin : begin + size], y[begin : begin + size]


keras.utils.set_random_seed(2)
model = keras.Sequential([keras.Input((256,))])
for _ in range(3):
    model.add(keras.layers.Dense(1024, activation="gelu"))
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile("sgd", "binary_crossentropy")
print(model.fit(batches(6), steps_per_epoch=48, epochs=6, verbose=0).history["loss"])

# /// healthy
# style = "fit"
# ///
