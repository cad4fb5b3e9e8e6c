"""Fit a ridge forecaster for household load from named sensor channels."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

CHANNELS = ("load", "temp", "humidity", "wind", "price")


def synth_series(n, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    temp = 12 + 9 * np.sin(2 * np.pi * t / 24) + rng.normal(0, 1.0, n)
    series = {
        "temp": temp,
        "humidity": 60 - 0.8 * temp + rng.normal(0, 3.0, n),
        "wind": np.abs(rng.normal(4, 2, n)),
        "price": 30 + 5 * np.sin(2 * np.pi * t / 168) + rng.normal(0, 1.0, n),
    }
    series["load"] = 2.0 + 0.05 * series["price"] - 0.03 * temp + rng.normal(0, 0.2, n)
    return {k: series[k].astype("float32") for k in CHANNELS}


def standardise(series):
    return {k: (v - v.mean()) / v.std() for k, v in series.items()}


class WindowGenerator:
    def __init__(self, series, lags, horizon, batch_size):
        self.series = series
        self.lags = lags
        self.horizon = horizon
        self.batch_size = batch_size
        self.width = lags + horizon
        self.n = len(series["load"])

    def _named_windows(self):
        def collect(window):
            return {k: tf.data.experimental.get_single_element(window[k].batch(self.width))
                    for k in CHANNELS}

        ds = tf.data.Dataset.from_tensor_slices(self.series)
        ds = ds.window(self.width, shift=1, drop_remainder=True)
        return ds.map(collect).batch(self.batch_size)

    def _split(self, window):
        past = tf.concat([window[k][:, :self.lags] for k in CHANNELS], axis=1)
        future = window["load"][:, self.lags:]
        return past, future

    def dataset(self):
        return self._named_windows().map(self._split).prefetch(1)


class RidgeForecaster:
    def __init__(self, n_features, horizon, penalty=10.0):
        self.gram = np.zeros((n_features, n_features))
        self.cross = np.zeros((n_features, horizon))
        self.penalty = penalty
        self.coef = None

    def partial_fit(self, x, y):
        x = x.astype("float64")
        self.gram += x.T @ x
        self.cross += x.T @ y

    def solve(self):
        eye = np.eye(len(self.gram)) * self.penalty
        self.coef = np.linalg.solve(self.gram + eye, self.cross)

    def error(self, ds):
        total, count = 0.0, 0
        for x, y in ds:
            residual = y.numpy() - x.numpy() @ self.coef
            total += float((residual ** 2).sum())
            count += residual.size
        return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=int, default=3600)
    parser.add_argument("--lags", type=int, default=48)
    parser.add_argument("--horizon", type=int, default=12)
    args = parser.parse_args()

    windows = WindowGenerator(standardise(synth_series(args.hours)), args.lags, args.horizon, 64)
    ds = windows.dataset()
    model = RidgeForecaster(args.lags * len(CHANNELS), args.horizon)
    for x, y in ds:
        model.partial_fit(x.numpy(), y.numpy())
    model.solve()
    print(f"windows: {args.hours - windows.width + 1}  mse: {model.error(ds):.5f}")


if __name__ == "__main__":
    main()
