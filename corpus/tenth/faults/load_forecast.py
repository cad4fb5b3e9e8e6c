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


class WindowReader:
    """Iterates over (history, target) pairs of a part of the series."""

    def __init__(self, series, start, stop):
        self.series = series
        self.start = start
        self.stop = stop

    def __len__(self):
        return self.stop - self.start - WINDOW - HORIZON + 1

    def __call__(self):
        for i in range(len(self)):
            first = self.start + i
            history = []
            for t in range(first, first + WINDOW):
                history.append([self.series[name][t] for name in FEATURES])
            target = self.series["load"][first + WINDOW + HORIZON - 1]
            yield np.array(history, dtype=np.float32), np.float32(target)


def make_dataset(series, start, stop):
    reader = WindowReader(series, start, stop)
    ds = tf.data.Dataset.from_generator(
        reader,
        output_signature=(
            tf.TensorSpec((WINDOW, len(FEATURES)), tf.float32),
            tf.TensorSpec((), tf.float32),
        ),
    )
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
