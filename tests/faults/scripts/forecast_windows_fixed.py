"""Forecasting the next value of a series from its last window."""

import numpy as np
import tensorflow as tf

WINDOW, BATCH = 24, 256
time = np.arange(60_000, dtype=np.float32)
series = np.sin(time / 30) + np.random.default_rng(3).normal(0, 0.1, len(time)).astype(np.float32)


def windows_of(values):
    starts = tf.data.Dataset.range(len(values) - WINDOW).shuffle(1000).batch(BATCH)
    data = starts.map(lambda start: tf.gather(values, start[:, None] + tf.range(WINDOW + 1, dtype=tf.int64)))
    return data.map(lambda window: (window[:, :-1], window[:, -1:])).prefetch(1)


model = tf.keras.Sequential([tf.keras.Input((WINDOW,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
history = model.fit(windows_of(series), epochs=3, verbose=0)
print(f"mse {history.history['loss'][-1]:.4f}")
