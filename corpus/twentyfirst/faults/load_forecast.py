"""Quantile nowcast of electric load with a convolutional recurrent network."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

WINDOW = 96             # four days of hours
SERIES = 24
HOURS = 24 * 7 * 14
QUANTILES = (0.1, 0.5, 0.9)
BATCH = 64
EPOCHS = 3


def make_series():
    rng = np.random.default_rng(0)
    t = np.arange(HOURS)
    out = []
    for _ in range(SERIES):
        phase = rng.uniform(0, 2 * np.pi, 2)
        level = (1.5 * np.sin(2 * np.pi * t / 24 + phase[0])
                 + 0.7 * np.sin(2 * np.pi * t / 168 + phase[1]))
        temp = np.cumsum(rng.normal(0, 0.05, HOURS))
        load = level - 0.4 * temp + rng.normal(0, 0.3, HOURS)
        out.append(np.stack([level + rng.normal(0, 0.5, HOURS), temp,
                             np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24),
                             load], axis=-1))
    return np.stack(out).astype(np.float32)


def windows(series, stride):
    view = np.lib.stride_tricks.sliding_window_view(series, WINDOW, axis=1)[:, ::stride]
    data = np.ascontiguousarray(view.transpose(0, 1, 3, 2)).reshape(-1, WINDOW, series.shape[-1])
    return data[..., :-1], data[..., -1:]


def pinball(y_true, y_pred):
    q = tf.constant(QUANTILES)
    error = y_true - y_pred
    return tf.reduce_mean(tf.maximum(q * error, (q - 1.0) * error), axis=-1)


def build_model(n_features):
    inputs = keras.Input((WINDOW, n_features))
    x = layers.Conv1D(24, 5, padding="same", activation="relu")(inputs)
    x = layers.GRU(24, return_sequences=True)(x)
    x = layers.TimeDistributed(layers.Dense(24, activation="relu"))(x)
    outputs = layers.TimeDistributed(layers.Dense(len(QUANTILES)))(x)
    return keras.Model(inputs, outputs)


def main():
    keras.utils.set_random_seed(1)
    series = make_series()
    cut = int(HOURS * 0.8)
    x_train, y_train = windows(series[:, :cut], stride=48)
    x_test, y_test = windows(series[:, cut:], stride=24)
    print("train", x_train.shape, "test", x_test.shape)

    model = build_model(x_train.shape[-1])
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=pinball)
    history = model.fit(x_train, y_train, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    print("loss", " ".join(f"{v:.4f}" for v in history.history["loss"]))

    prediction = model.predict(x_test, batch_size=BATCH, verbose=0)
    coverage = (y_test <= prediction).mean(axis=(0, 1))
    print("coverage", " ".join(f"{q}:{c:.3f}" for q, c in zip(QUANTILES, coverage)))
    print("mae", f"{np.abs(prediction[..., 1:2] - y_test).mean():.4f}")


if __name__ == "__main__":
    main()
