"""Day-ahead load forecasting: sliding windows over hourly series -> next-step regression."""
import numpy as np
import tensorflow as tf

WINDOW = 72
BATCH = 128
EPOCHS = 4


def make_series(n_hours=9000, n_sites=3, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n_hours)
    sites = []
    for _ in range(n_sites):
        daily = np.sin(2 * np.pi * (t + rng.uniform(0, 24)) / 24) * rng.uniform(0.5, 1.5)
        weekly = np.sin(2 * np.pi * t / 168) * rng.uniform(0.2, 0.6)
        temp = np.cos(2 * np.pi * t / 8760) + 0.1 * rng.standard_normal(n_hours)
        load = daily + weekly - 0.4 * temp + 0.15 * rng.standard_normal(n_hours)
        sites.append(np.stack([load, temp, t % 24 / 24.0], axis=1))
    return np.stack(sites).astype(np.float32)


series = make_series()
mean = series.mean(axis=(0, 1))
std = series.std(axis=(0, 1))
series = (series - mean) / std
n_sites, n_hours, n_feat = series.shape
starts = np.stack(np.meshgrid(np.arange(n_sites), np.arange(n_hours - WINDOW - 1),
                              indexing="ij"), axis=-1).reshape(-1, 2)
np.random.default_rng(1).shuffle(starts)
split = int(0.9 * len(starts))


hours = np.arange(WINDOW)


def windows(pairs):
    def gen():
        for i in range(0, len(pairs) - BATCH + 1, BATCH):
            site, first = pairs[i:i + BATCH].T
            x = series[site[:, None], first[:, None] + hours]
            y = series[site, first + WINDOW, 0]
            yield x, y
    return gen


def make_dataset(pairs):
    ds = tf.data.Dataset.from_generator(
        windows(pairs),
        output_signature=(tf.TensorSpec([BATCH, WINDOW, n_feat], tf.float32),
                          tf.TensorSpec([BATCH], tf.float32)))
    return ds.prefetch(tf.data.AUTOTUNE)


tf.keras.utils.set_random_seed(7)
model = tf.keras.Sequential([
    tf.keras.Input((WINDOW, n_feat)),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
history = model.fit(make_dataset(starts[:split]), validation_data=make_dataset(starts[split:]),
                    epochs=EPOCHS, verbose=2)
print("validation mae (MW):", history.history["val_mae"][-1] * std[0])
