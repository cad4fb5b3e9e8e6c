"""Day-ahead electricity load with a two-layer LSTM (keras.utils.timeseries_dataset_from_array)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

WINDOW, HORIZON, HOURS = 96, 24, 9000


def load_curve(rng):
    t = np.arange(HOURS)
    day = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1)
    week = 0.5 * (np.floor(t / 24) % 7 < 5)
    year = np.cos(2 * np.pi * t / 8760)
    temp = 10 - 9 * year + 4 * np.sin(2 * np.pi * (t - 6) / 24) + rng.normal(0, 1, HOURS)
    load = 5 + day + week + year - 0.05 * temp + 0.1 * rng.normal(size=HOURS)
    feats = np.stack([load, temp, np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24), week], 1)
    return feats.astype("float32")


def windows(feats, shuffle):
    targets = np.lib.stride_tricks.sliding_window_view(feats[WINDOW:, 0], HORIZON)
    return keras.utils.timeseries_dataset_from_array(
        feats[: len(targets) + WINDOW - 1], targets, sequence_length=WINDOW,
        sequence_stride=3, batch_size=128, shuffle=shuffle, seed=3).cache().prefetch(2)


def main():
    keras.utils.set_random_seed(3)
    feats = load_curve(np.random.default_rng(3))
    cut = 7500
    mean, std = feats[:cut].mean(0), feats[:cut].std(0)
    feats = (feats - mean) / std
    model = keras.Sequential([
        keras.Input((WINDOW, feats.shape[1])),
        keras.layers.LSTM(96, return_sequences=True),
        keras.layers.LSTM(96),
        keras.layers.Dense(HORIZON),
    ])
    model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0), loss="mse", metrics=["mae"])
    test = windows(feats[cut:], False)
    model.fit(windows(feats[:cut], True), validation_data=test, epochs=3, verbose=2)

    forecast = model.predict(test, verbose=0)
    truth = np.concatenate([y.numpy() for _, y in test])
    err = np.abs(forecast - truth).mean(axis=0) * std[0]
    for h in (0, 5, 11, 17, 23):
        print(f"hour +{h + 1:2d}: mean error {err[h]:.3f} GW")
    naive = np.abs(np.roll(truth, 1, axis=1)[:, 1:] - truth[:, 1:]).mean() * std[0]
    print(f"all {err.mean():.3f} GW, persistence (one hour) {naive:.3f} GW")


if __name__ == "__main__":
    main()
