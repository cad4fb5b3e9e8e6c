"""Day-ahead forecast of electric load with a two-layer GRU (Keras fit)."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)

HOURS = 24 * 365
PAST, AHEAD = 96, 24


def load_curve():
    rng = np.random.default_rng(1)
    h = np.arange(HOURS)
    temp = 10 - 12 * np.cos(2 * np.pi * h / HOURS) + 4 * np.sin(2 * np.pi * h / 24)
    temp += np.convolve(rng.normal(0, 1, HOURS), np.ones(36) / 6, "same")
    week = np.where((h // 24) % 7 < 5, 1.0, 0.8)
    load = week * (1.0 + 0.3 * np.sin(2 * np.pi * (h - 7) / 24)) + 0.015 * np.abs(temp - 18)
    load += 0.02 * rng.normal(size=HOURS)
    feats = np.stack([load, temp / 20, np.sin(2 * np.pi * h / 24), np.cos(2 * np.pi * h / 24),
                      (h // 24) % 7 / 6.0], axis=1)
    return feats.astype(np.float32)


def windows(data, start, stop, stride):
    view = np.lib.stride_tricks.sliding_window_view(data[start:stop], PAST + AHEAD, axis=0)
    view = np.moveaxis(view, -1, 1)[::stride]
    return np.ascontiguousarray(view[:, :PAST]), np.ascontiguousarray(view[:, PAST:, 0])


data = load_curve()
cut = int(0.85 * HOURS)
mean, std = data[:cut].mean(0), data[:cut].std(0)
data = (data - mean) / std
x, y = windows(data, 0, cut, 4)
xv, yv = windows(data, cut, HOURS, 6)
print("windows:", x.shape, xv.shape)

model = keras.Sequential([
    keras.Input((PAST, data.shape[1])),
    layers.GRU(96, return_sequences=True),
    layers.GRU(96),
    layers.Dropout(0.1, seed=3),
    layers.Dense(AHEAD),
])
model.compile(keras.optimizers.Adam(2e-3), keras.losses.Huber(), metrics=["mae"])
model.fit(x, y, batch_size=128, epochs=3, validation_data=(xv, yv),
          validation_batch_size=256, verbose=2)

pred = model.predict(xv, batch_size=256, verbose=0) * std[0] + mean[0]
true = yv * std[0] + mean[0]
naive = xv[:, -AHEAD:, 0] * std[0] + mean[0]
print("MAE model %.4f, same hours of yesterday %.4f"
      % (np.abs(pred - true).mean(), np.abs(naive - true).mean()))
for h in (0, 11, 23):
    print("hour +%2d: %.4f" % (h + 1, np.abs(pred[:, h] - true[:, h]).mean()))
