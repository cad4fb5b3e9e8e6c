"""Tide levels at a ferry landing: a GRU on windows that were cut beforehand."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

PAST = 24


def levels(hours):
    t = np.arange(hours)
    noise = np.random.default_rng(4).normal(0, 0.05, hours)
    return (np.sin(2 * np.pi * t / 12.42) + 0.4 * np.sin(2 * np.pi * t / 24) + noise).astype("float32")


series = levels(12000)
frames = np.lib.stride_tricks.sliding_window_view(series, PAST + 1)
x, y = np.ascontiguousarray(frames[:, :-1, None]), np.ascontiguousarray(frames[:, -1])
cut = 10000

tf.keras.utils.set_random_seed(4)
model = tf.keras.Sequential([layers.Input((PAST, 1)), layers.GRU(48), layers.Dense(16, "relu"), layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), epochs=4, batch_size=128, verbose=2)
print("rmse", round(float(model.evaluate(x[cut:], y[cut:], batch_size=1024, verbose=0)) ** 0.5, 4))
