"""Roll a small LSTM forward to forecast many hourly series."""
import numpy as np
import tensorflow as tf

WINDOW = 48
HORIZON = 12
N_SERIES = 8


def make_series(n, length, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    phase = rng.uniform(0, 6.28, size=(n, 1))
    noise = rng.normal(scale=0.1, size=(n, length))
    return (np.sin(t[None, :] / 12.0 + phase) + noise).astype("float32")


def build_model():
    model = tf.keras.Sequential([
        tf.keras.layers.Input((WINDOW, 1)),
        tf.keras.layers.LSTM(24),
        tf.keras.layers.Dense(1),
    ])
    model.compile(loss="mse", optimizer="adam")
    return model


def forecast(model, history, steps):
    """Feed each forecast back as the newest value of the window."""
    result = np.zeros((len(history), steps), dtype="float32")
    for row, series in enumerate(history):
        window = series[-WINDOW:].copy()
        for step in range(steps):
            value = model.predict(window.reshape(1, WINDOW, 1), verbose=0)[0, 0]
            result[row, step] = value
            window = np.concatenate([window[1:], [value]])
    return result


def main():
    tf.keras.utils.set_random_seed(11)
    model = build_model()
    history = make_series(N_SERIES, 300)
    out = forecast(model, history, HORIZON)
    print("forecast", out.shape, "mean %.5f" % out.mean())


if __name__ == "__main__":
    main()
