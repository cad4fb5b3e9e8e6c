"""Forecast tomorrow's electricity load from the last four days (hourly data, one feeder)."""
import time

import numpy as np
import tensorflow as tf

HISTORY = 96
HORIZON = 24
BATCH = 128


def load_curve(hours, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    day = np.sin(2 * np.pi * t / 24 - 1.3)
    week = 0.4 * np.sin(2 * np.pi * t / 168)
    year = 0.8 * np.cos(2 * np.pi * t / 8766)
    noise = np.zeros(hours)
    e = rng.normal(0, 0.08, hours)
    for i in range(1, hours):
        noise[i] = 0.9 * noise[i - 1] + e[i]
    return (day * (1 + 0.3 * year) + week + year + noise).astype("float32")


def make_dataset(series, shuffle):
    total = HISTORY + HORIZON
    windows = np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(series, total))
    ds = tf.data.Dataset.from_tensor_slices(windows)
    if shuffle:
        ds = ds.shuffle(2000, seed=8)
    ds = ds.batch(BATCH).map(lambda w: (w[:, :HISTORY], w[:, HISTORY:]))
    return ds.prefetch(1)


def build_model():
    inp = tf.keras.Input((HISTORY,))
    x = tf.keras.layers.Dense(128, activation="relu")(inp)
    x = tf.keras.layers.Dense(128, activation="relu")(x)
    skip = tf.keras.layers.Dense(HORIZON, use_bias=False)(inp)
    out = tf.keras.layers.Dense(HORIZON)(x) + skip
    return tf.keras.Model(inp, out)


class Clock(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}: mae {logs['mae']:.4f} val {logs['val_mae']:.4f}  {time.time() - self.t:.1f}s")


def naive_mae(series):
    """same hour yesterday"""
    return np.abs(series[24:] - series[:-24]).mean()


def main():
    tf.keras.utils.set_random_seed(12)
    series = load_curve(3 * 8766)
    cut = 2 * 8766
    mean, std = series[:cut].mean(), series[:cut].std()
    series = (series - mean) / std
    train = make_dataset(series[:cut], True)
    valid = make_dataset(series[cut:], False)

    model = build_model()
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    model.fit(train, validation_data=valid, epochs=4, verbose=0, callbacks=[Clock()])

    print(f"naive forecast: {naive_mae(series[cut:]):.4f}")
    mse, mae = model.evaluate(valid, verbose=0)
    print(f"model: mse {mse:.4f} mae {mae:.4f}")


main()
