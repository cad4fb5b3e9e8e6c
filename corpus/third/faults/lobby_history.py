"""Train on lift traffic and keep the history of every batch on disk, for the dashboard."""
import json
import os
import tempfile
import time

import numpy as np
from tensorflow import keras


class DashboardLog(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path
        self.history = []

    def on_train_batch_end(self, batch, logs=None):
        record = {name: float(value) for name, value in logs.items()}
        record.update(batch=batch, time=time.time())
        self.history.append(record)
        with open(self.path, "w") as out:
            json.dump(self.history, out, indent=1)


def traffic(rows, seed):
    rng = np.random.default_rng(seed)
    x = rng.random((rows, 40)).astype("float32")
    y = np.sin(x[:, :5].sum(1)) + rng.normal(scale=0.05, size=rows)
    return x, y.astype("float32")


def lift_model():
    inputs = keras.Input((40,))
    h = keras.layers.Dense(128, "relu")(inputs)
    h = keras.layers.Dense(128, "relu")(h)
    model = keras.Model(inputs, keras.layers.Dense(1)(h))
    model.compile(keras.optimizers.RMSprop(1e-3), "mse", metrics=["mae"])
    return model


def main():
    keras.utils.set_random_seed(21)
    x, y = traffic(32 * 300, 21)
    with tempfile.TemporaryDirectory() as folder:
        log = DashboardLog(os.path.join(folder, "history.json"))
        model = lift_model()
        model.fit(x, y, batch_size=32, epochs=4, verbose=2, callbacks=[log])
        with open(log.path) as file:
            print(len(file.readlines()), "lines of history")


if __name__ == "__main__":
    main()
