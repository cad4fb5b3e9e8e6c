"""Forecast the electricity load of 20 substations from the last four days."""
import math

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(17)

HISTORY = 96
HORIZON = 12
BATCH = 128


def simulate(hours, stations, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = np.sin(2 * np.pi * t / 24)[:, None] * rng.uniform(0.5, 2.0, stations)
    weekly = np.sin(2 * np.pi * t / 168)[:, None] * rng.uniform(0.2, 1.0, stations)
    drift = np.cumsum(rng.normal(scale=0.02, size=(hours, stations)), axis=0)
    load = 10 + daily + weekly + drift + 0.2 * rng.normal(size=(hours, stations))
    return load.astype("float32")


class Windows(keras.utils.PyDataset):
    """Windows scaled by their own history; every start hour of every station."""

    def __init__(self, load, stride, shuffle, **kwargs):
        super().__init__(**kwargs)
        self.load = load
        self.shuffle = shuffle
        hours, stations = load.shape
        starts = np.arange(0, hours - HISTORY - HORIZON + 1, stride)
        self.index = [(s, k) for s in starts for k in range(stations)]
        self.index = np.array(self.index)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.index) / BATCH)

    def __getitem__(self, i):
        part = self.index[i * BATCH:(i + 1) * BATCH]
        hours = part[:, :1] + np.arange(HISTORY + HORIZON)
        window = self.load[hours, part[:, 1:]]
        past = window[:, :HISTORY]
        mean = past.mean(axis=1, keepdims=True)
        std = past.std(axis=1, keepdims=True) + 1e-3
        window = (window - mean) / std
        return window[:, :HISTORY, None], window[:, HISTORY:]

    def on_epoch_end(self):
        if self.shuffle:
            np.random.shuffle(self.index)


def build():
    inp = keras.Input((HISTORY, 1))
    x = layers.Conv1D(16, 5, strides=2, padding="causal", activation="relu")(inp)
    x = layers.Conv1D(24, 5, strides=2, padding="causal", activation="relu")(x)
    x = layers.Conv1D(24, 3, strides=2, padding="causal", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(48, activation="relu")(x)
    return keras.Model(inp, layers.Dense(HORIZON)(x))


if __name__ == "__main__":
    load = simulate(24 * 45, 20, seed=1)
    cut = 24 * 36
    train = Windows(load[:cut], stride=1, shuffle=True)
    val = Windows(load[cut - HISTORY:], stride=4, shuffle=False)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mae")
    model.fit(train, validation_data=val, epochs=6, verbose=2)
    print("val mae %.4f" % model.evaluate(val, verbose=0))
