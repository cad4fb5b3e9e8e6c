"""Hourly load forecast with an LSTM: one day ahead from one week."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
from tensorflow.keras import layers
tf.keras.utils.set_random_seed(5)

WEEK, DAY = 168, 24
t = np.arange(24 * 400)
rng = np.random.default_rng(1)
load = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(2 * np.pi * t / WEEK) + rng.normal(0, 0.1, t.size)
load = ((load - load.mean()) / load.std()).astype("float32")
windows = np.lib.stride_tricks.sliding_window_view(load, WEEK + DAY)[::3]
x, y = windows[:, :WEEK, None], windows[:, WEEK:]
cut = int(0.9 * len(x))
print(x.shape, y.shape)

model = tf.keras.Sequential([layers.Input((WEEK, 1)), layers.LSTM(96), layers.Dense(DAY)])
model.compile(tf.keras.optimizers.Adam(2e-3), "mse")
model.fit(np.ascontiguousarray(x[:cut]), y[:cut], batch_size=256, epochs=4, verbose=2)
print("test mse", model.evaluate(np.ascontiguousarray(x[cut:]), y[cut:], batch_size=256, verbose=0))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
