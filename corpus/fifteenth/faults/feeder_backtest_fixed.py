# %% Backtest of a linear day-ahead model on half-hourly feeder load
import numpy as np
import tensorflow as tf

LOOKBACK = 96      # two days of half hours
HORIZON = 16
LENGTH = 110_000
CHANNELS = 5
BATCH = 256

# %% synthetic feeder: daily + weekly cycle, temperature response, noise
rng = np.random.default_rng(99)
t = np.arange(LENGTH)
daily = np.sin(2 * np.pi * t / 48)
weekly = np.sin(2 * np.pi * t / (48 * 7))
temperature = 12 + 8 * np.sin(2 * np.pi * t / (48 * 365)) + rng.normal(0, 1.5, LENGTH)
load = 50 + 14 * daily + 5 * weekly - 0.8 * temperature + rng.normal(0, 2.0, LENGTH)
series = np.stack([load, temperature, daily, weekly, rng.normal(size=LENGTH)], 1)
series = ((series - series.mean(0)) / series.std(0)).astype("float32")

# %% ridge coefficients estimated from the first 4000 points
fit_idx = np.arange(0, 4000)
X = np.stack([series[i:i + LOOKBACK].ravel() for i in fit_idx])
Y = np.stack([series[i + LOOKBACK:i + LOOKBACK + HORIZON, 0] for i in fit_idx])
W = np.linalg.solve(X.T @ X + 50.0 * np.eye(X.shape[1], dtype="float32"), X.T @ Y)
W = tf.constant(W, tf.float32)


# %% sliding windows over the whole history
def windows(values):
    span = LOOKBACK + HORIZON
    values = tf.constant(values)
    ds = tf.data.Dataset.range(len(values) - span + 1).batch(BATCH)
    ds = ds.map(lambda first: tf.gather(values, first[:, None] + tf.range(span, dtype=tf.int64)),
                num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.map(lambda w: (w[:, :LOOKBACK], w[:, LOOKBACK:, 0]), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


@tf.function
def backtest(ds):
    count = tf.constant(0.0)
    absolute = tf.zeros([HORIZON])
    squared = tf.zeros([HORIZON])
    naive = tf.zeros([HORIZON])
    for x, y in ds:
        forecast = tf.reshape(x, [-1, LOOKBACK * CHANNELS]) @ W
        yesterday = x[:, LOOKBACK - 48:LOOKBACK - 48 + HORIZON, 0]
        count += tf.cast(tf.shape(x)[0], tf.float32)
        absolute += tf.reduce_sum(tf.abs(forecast - y), 0)
        squared += tf.reduce_sum(tf.square(forecast - y), 0)
        naive += tf.reduce_sum(tf.abs(yesterday - y), 0)
    return count, absolute / count, tf.sqrt(squared / count), naive / count


count, mae, rmse, naive = backtest(windows(series))

# %% report
print(int(count), "windows")
print("lead   mae    rmse   naive")
for k in (0, 3, 7, 11, 15):
    print(f"{(k + 1) / 2:4.1f}h {mae[k]:6.3f} {rmse[k]:6.3f} {naive[k]:6.3f}")
skill = 1 - float(tf.reduce_mean(mae)) / float(tf.reduce_mean(naive))
print(f"skill against yesterday: {skill:.3f}")
