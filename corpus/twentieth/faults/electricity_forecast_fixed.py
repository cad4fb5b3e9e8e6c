"""Day-ahead load forecasting: 168 h of history -> next 24 h."""
import numpy as np
import tensorflow as tf

HISTORY, HORIZON, FEATURES = 168, 24, 5
tf.keras.utils.set_random_seed(21)


def make_series(hours, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    temperature = 12 + 9 * np.sin(2 * np.pi * t / 8760 - 1.9) + 4 * np.sin(2 * np.pi * t / 24 - 2.2)
    temperature += np.cumsum(rng.normal(scale=0.05, size=hours))
    weekend = ((t // 24) % 7 >= 5).astype(float)
    load = 50 + 12 * np.sin(2 * np.pi * (t % 24) / 24 - 1.4) - 8 * weekend + 0.4 * np.abs(temperature - 16)
    load += rng.normal(scale=1.0, size=hours)
    data = np.stack([load, temperature, weekend,
                     np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], axis=1)
    return ((data - data.mean(axis=0)) / data.std(axis=0)).astype("float32")


def split_window(window):
    window = tf.ensure_shape(window, (HISTORY + HORIZON, FEATURES))
    return window[:HISTORY], window[HISTORY:, 0]


def make_dataset(series, batch_size, shuffle):
    size = HISTORY + HORIZON
    starts = tf.data.Dataset.range(len(series) - size + 1)
    values = tf.constant(series)
    ds = starts.map(lambda i: split_window(values[i:i + size]))
    if shuffle:
        ds = ds.shuffle(1024, seed=5, reshuffle_each_iteration=False)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def build_model():
    inputs = tf.keras.Input((HISTORY, FEATURES))
    x = tf.keras.layers.Conv1D(24, 6, strides=3, activation="relu")(inputs)
    x = tf.keras.layers.Conv1D(24, 5, strides=2, activation="relu")(x)
    x = tf.keras.layers.Flatten()(x)
    x = tf.keras.layers.Dense(48, activation="relu")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(HORIZON)(x))


def main():
    series = make_series(4600)
    train = make_dataset(series[:3800], 64, shuffle=True)
    valid = make_dataset(series[3800 - HISTORY:], 256, shuffle=False)
    model = build_model()
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
    history = model.fit(train, validation_data=valid, epochs=5, verbose=0)
    print("train mae %.4f  valid mae %.4f" % (history.history["mae"][-1], history.history["val_mae"][-1]))


if __name__ == "__main__":
    main()
