# Forecast of the heat pump load, next hour from the last two days (notebook export)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)

# In [2]
hours = 36_000
t = np.arange(hours)
rng = np.random.default_rng(0)
outside = 8 - 10 * np.cos(2 * np.pi * t / 8766) + 4 * np.sin(2 * np.pi * t / 24) + rng.normal(0, 1.5, hours)
load = np.maximum(0, 18 - outside) * 0.4 + 0.8 * np.sin(2 * np.pi * (t % 24) / 24) + rng.normal(0, 0.2, hours)
tariff = ((t % 24) > 17).astype(float)
weekend = ((t // 24) % 7 > 4).astype(float)
series = np.stack([load, outside, tariff, weekend], axis=1).astype("float32")
series[:, :2] = (series[:, :2] - series[:, :2].mean(0)) / series[:, :2].std(0)

# In [3]
split = 30_000
train, valid = series[:split], series[split:]
LOOKBACK = 48
BATCH = 128


def windowed(values, shuffle):
    frames = np.lib.stride_tricks.sliding_window_view(values, LOOKBACK + 1, axis=0).transpose(0, 2, 1)
    ds = tf.data.Dataset.from_tensor_slices((frames[:, :-1], frames[:, -1, 0]))
    if shuffle:
        ds = ds.shuffle(4000, seed=9)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


train_ds = windowed(train, True)
valid_ds = windowed(valid, False)

# In [4]
model = tf.keras.Sequential([
    tf.keras.Input((LOOKBACK, 4)),
    tf.keras.layers.Conv1D(16, 5, activation="relu"),
    tf.keras.layers.MaxPooling1D(2),
    tf.keras.layers.Conv1D(16, 5, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(32, activation="relu"),
    tf.keras.layers.Dense(1),
])
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"], jit_compile=False)

# In [5]
history = model.fit(train_ds, validation_data=valid_ds, epochs=2, verbose=2)

# In [6]
naive = np.abs(valid[LOOKBACK:, 0] - valid[LOOKBACK - 1:-1, 0]).mean()
print("validation mae %.4f, persistence %.4f" % (history.history["val_mae"][-1], naive))
