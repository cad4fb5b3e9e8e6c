"""Forecast the hire of bicycles from windows of the last two days."""
import numpy as np
import tensorflow as tf

WINDOW, AHEAD, BATCH = 48, 1, 256


def hourly_hire(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = 40 + 30 * np.sin(2 * np.pi * t / 24) + 10 * np.sin(2 * np.pi * t / 168)
    return ((daily + rng.normal(scale=4, size=hours)) / 80).astype("float32")


def windowed_dataset(series, window, batch, buffer):
    frames = np.lib.stride_tricks.sliding_window_view(series, window + AHEAD)
    ds = tf.data.Dataset.from_tensor_slices((frames[:, :-AHEAD], frames[:, -1]))
    ds = ds.shuffle(buffer, seed=11)
    return ds.batch(batch).prefetch(1)


def build_model():
    return tf.keras.Sequential([
        tf.keras.layers.Input((WINDOW,)),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1),
    ])


tf.keras.utils.set_random_seed(9)
series = hourly_hire(14000, 3)
split = 12000
train = windowed_dataset(series[:split], WINDOW, BATCH, 1000)
valid = windowed_dataset(series[split:], WINDOW, BATCH, 1)
model = build_model()
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
history = model.fit(train, validation_data=valid, epochs=4, verbose=2)
print("best mae", round(min(history.history["val_mae"]), 4))
