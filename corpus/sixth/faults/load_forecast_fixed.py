"""Forecasts a household's electricity load from a CSV of meter readings."""

import csv
import io
import math
import random

import numpy as np
import tensorflow as tf

LOOKBACK, HORIZON = 96, 12


def meter_file(rows=45_000):
    random.seed(0)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["time", "load", "temperature", "price"])
    for i in range(rows):
        writer.writerow([i, 1 + math.sin(i / 48) + random.random() / 4, 15 + 8 * math.sin(i / 900), random.random()])
    out.seek(0)
    return out


def read(handle):
    rows = []
    for row in csv.DictReader(handle):
        rows.append([float(row["load"]), float(row["temperature"]), float(row["price"])])
    return np.array(rows, dtype="float32")


def create_dataset(values):
    count = len(values) - LOOKBACK - HORIZON
    X = np.lib.stride_tricks.sliding_window_view(values, LOOKBACK, axis=0)[:count].transpose(0, 2, 1)
    y = np.lib.stride_tricks.sliding_window_view(values[LOOKBACK:, 0], HORIZON)[:count]
    return np.ascontiguousarray(X), np.ascontiguousarray(y)


values = read(meter_file())
values = (values - values.mean(0)) / values.std(0)
X, y = create_dataset(values)
split = int(0.9 * len(X))
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((LOOKBACK, 3)),
        tf.keras.layers.Conv1D(16, 7, strides=4, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(HORIZON),
    ]
)
model.compile("adam", "mae")
model.fit(X[:split], y[:split], validation_data=(X[split:], y[split:]), batch_size=512, epochs=4, verbose=2)
