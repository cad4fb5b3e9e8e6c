"""Forecasting the next value of a series from its last window."""

import numpy as np
import tensorflow as tf

WINDOW, BATCH = 24, 256
time = np.arange(60_000, dtype=np.float32)
series = np.sin(time / 30) + np.random.default_rng(3).normal(0, 0.1, len(time)).astype(np.float32)


def windows_of(values):
    data = tf.data.Dataset.from_tensor_slices(values)
    data = data.window(WINDOW + 1, shift=1, drop_remainder=True)
    data = data.flat_map(lambda window: window.batch(WINDOW + 1))  # FAULT
    data = data.shuffle(1000).map(lambda window: (window[:-1], window[-1:]))
    return data.batch(BATCH).prefetch(1)


model = tf.keras.Sequential([tf.keras.Input((WINDOW,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(windows_of(series), epochs=3, verbose=0)
print(f"mse {history.history['loss'][-1]:.4f}")

# /// fault
# style = "fit"
# kind = "time"
# cause = "window().flat_map(batch) makes a dataset and an iterator for each window of 25 numbers"
# codes = ["INP007"]
# families = ["input"]
# source = "courses and notebooks on forecasting with tf.data; questions on how slow Dataset.window is"
# ///
