"""Hour-ahead electricity load forecast from the last week of weather and load."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

WINDOW = 168         # hours of history
HORIZON = 1
BATCH = 64
EPOCHS = 4
FEATURES = ["load", "temp", "wind", "hour_sin", "hour_cos", "weekend"]

tf.keras.utils.set_random_seed(21)


def build_series(n_hours=9000):
    rng = np.random.default_rng(4)
    t = np.arange(n_hours)
    hour = t % 24
    temp = 12 + 9 * np.sin(2 * np.pi * t / 8760) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    temp = temp + rng.normal(0, 1, n_hours)
    wind = np.abs(rng.normal(5, 2, n_hours))
    weekend = ((t // 24) % 7 >= 5).astype(float)
    load = (900 + 180 * np.sin(2 * np.pi * (hour - 7) / 24) - 8 * temp
            - 120 * weekend + rng.normal(0, 20, n_hours))
    return {
        "load": load, "temp": temp, "wind": wind,
        "hour_sin": np.sin(2 * np.pi * hour / 24),
        "hour_cos": np.cos(2 * np.pi * hour / 24),
        "weekend": weekend,
    }


def normalise(series, n_train):
    stats = {}
    out = {}
    for name in FEATURES:
        mu, sd = series[name][:n_train].mean(), series[name][:n_train].std()
        stats[name] = (mu, sd)
        out[name] = (series[name] - mu) / sd
    return out, stats


def make_dataset(series, start, stop):
    table = np.stack([series[name][start:stop] for name in FEATURES], 1).astype(np.float32)
    count = len(table) - WINDOW - HORIZON + 1
    windows = np.lib.stride_tricks.sliding_window_view(table, WINDOW, axis=0)
    history = np.ascontiguousarray(windows[:count].transpose(0, 2, 1))
    target = table[WINDOW + HORIZON - 1:, 0]
    ds = tf.data.Dataset.from_tensor_slices((history, target))
    return ds.batch(BATCH).prefetch(2)


def build_model():
    model = tf.keras.Sequential([
        layers.Input((WINDOW, len(FEATURES))),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Conv1D(24, 5, strides=2, activation="relu"),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ])
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
    return model


if __name__ == "__main__":
    raw = build_series()
    n = len(raw["load"])
    n_train = int(0.8 * n)
    series, stats = normalise(raw, n_train)

    train_ds = make_dataset(series, 0, n_train)
    test_ds = make_dataset(series, n_train, n)
    model = build_model()
    model.fit(train_ds, epochs=EPOCHS, validation_data=test_ds, verbose=2)

    mse, mae = model.evaluate(test_ds, verbose=0)
    print("test MAE: %.2f MW" % (mae * stats["load"][1]))
