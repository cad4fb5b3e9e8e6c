import numpy as np
import tensorflow as tf

# Forecast the river level 6 h ahead out of the last 36 hourly readings of 8 gauges
HISTORY, AHEAD, GAUGES = 36, 6, 8


def simulate(hours, seed=1):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.08, 4.0, hours)
    kernel = np.exp(-np.arange(60) / 12.0)
    flow = np.convolve(rain, kernel)[:hours]
    lagged = [np.roll(flow, 3 * k) * (1 - 0.05 * k) for k in range(GAUGES)]
    series = np.stack(lagged, 1) + rng.normal(0, 0.1, (hours, GAUGES))
    return ((series - series.mean(0)) / series.std(0)).astype("float32")


def windows(series):
    view = np.lib.stride_tricks.sliding_window_view(series, HISTORY, axis=0)
    x = view[:-AHEAD].transpose(0, 2, 1)
    y = series[HISTORY + AHEAD - 1:, -1]
    return np.ascontiguousarray(x), y


tf.keras.utils.set_random_seed(1)
series = simulate(17000)
x, y = windows(series)
cut = int(0.9 * len(x))
print("windows", x.shape)

model = tf.keras.Sequential([
    tf.keras.layers.Input((HISTORY, GAUGES)),
    tf.keras.layers.GRU(128, return_sequences=True),
    tf.keras.layers.GRU(128),
    tf.keras.layers.Dense(1),
])
model.compile(tf.keras.optimizers.Adam(1e-3), "mse", jit_compile=False)
model.fit(x[:cut], y[:cut], batch_size=256, epochs=2, validation_data=(x[cut:], y[cut:]), verbose=2)

pred = model.predict(x[cut:], batch_size=512, verbose=0)[:, 0]
naive = x[cut:, -1, -1]
print("rmse model %.4f, persistence %.4f" % (
    np.sqrt(np.mean((pred - y[cut:]) ** 2)), np.sqrt(np.mean((naive - y[cut:]) ** 2))))
