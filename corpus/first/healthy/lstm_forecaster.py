"""Sequence model for load forecasting; windows are cut once, ahead of training."""
import numpy as np
import tensorflow as tf

WINDOW, HORIZON = 96, 12


def load_series(n=10, length=1500):
    rng = np.random.default_rng(9)
    t = np.arange(length)
    day = np.sin(2 * np.pi * t / 24 + rng.uniform(0, 6, size=(n, 1)))
    week = 0.5 * np.sin(2 * np.pi * t / 168)
    return (day + week + rng.normal(scale=0.1, size=(n, length))).astype("float32")


def make_dataset(series, batch=256):
    view = np.lib.stride_tricks.sliding_window_view(series, WINDOW + HORIZON, axis=1)[:, ::2]
    view = view.reshape(-1, WINDOW + HORIZON)
    ds = tf.data.Dataset.from_tensor_slices((view[:, :WINDOW, None], view[:, WINDOW:]))
    ds = ds.shuffle(len(view), seed=9).batch(batch, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(9)
    model = tf.keras.Sequential([
        tf.keras.layers.Input((WINDOW, 1)),
        tf.keras.layers.Conv1D(32, 8, strides=4, activation="relu"),
        tf.keras.layers.LSTM(64),
        tf.keras.layers.Dense(HORIZON),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(2e-3), loss="mae")
    hist = model.fit(make_dataset(load_series()), epochs=8, verbose=0)
    print("mae %.4f" % hist.history["loss"][-1])
