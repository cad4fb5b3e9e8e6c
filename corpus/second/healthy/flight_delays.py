"""Predict flight delays from a table of made-up flights."""
import numpy as np
import tensorflow as tf

ROWS = 160000


def make_table(seed):
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, ROWS)
    day = rng.integers(0, 7, ROWS)
    carrier = rng.integers(0, 30, ROWS)
    weather = rng.normal(size=(ROWS, 12))
    history = np.cumsum(rng.normal(size=(ROWS, 8)), axis=0)
    history = (history - history.mean(axis=0)) / history.std(axis=0)
    recent = np.lib.stride_tricks.sliding_window_view(
        np.pad(weather[:, :2], ((23, 0), (0, 0)), mode="edge"), 24, axis=0)
    recent = np.concatenate([np.median(recent, axis=-1), recent.std(axis=-1)], axis=1)
    delay = (np.sin(hour / 24 * 2 * np.pi) + 0.3 * (day > 4) + 0.5 * weather[:, 0]
             + 0.1 * carrier / 30 + 0.4 * rng.normal(size=ROWS))
    columns = [np.eye(24)[hour], np.eye(7)[day], np.eye(30)[carrier], weather, history, recent]
    return np.concatenate(columns, axis=1).astype("float32"), delay.astype("float32")


def build(width):
    model = tf.keras.Sequential([
        tf.keras.layers.Input((width,)),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile(tf.keras.optimizers.Adam(1e-3), "mse", metrics=["mae"])
    return model


def main():
    tf.keras.utils.set_random_seed(3)
    x, y = make_table(3)
    cut = int(ROWS * 0.9)
    model = build(x.shape[1])
    model.fit(x[:cut], y[:cut], batch_size=1024, epochs=4, verbose=2,
              validation_data=(x[cut:], y[cut:]), validation_batch_size=4096,
              callbacks=[tf.keras.callbacks.ReduceLROnPlateau(patience=2)])
    print("first prediction %.4f" % model.predict(x[cut:], batch_size=4096, verbose=0)[0, 0])


if __name__ == "__main__":
    main()
