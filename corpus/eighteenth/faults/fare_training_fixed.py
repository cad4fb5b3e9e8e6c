"""Fits a fare model from a folder of CSV trip records."""
import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf

COLUMNS = [
    "distance", "duration", "hour", "weekday", "pickup_x", "pickup_y",
    "dropoff_x", "dropoff_y", "passengers", "tolls", "rain", "fare",
]


def write_trips(folder, files, rows, seed):
    rng = np.random.default_rng(seed)
    paths = []
    for i in range(files):
        table = rng.uniform(0, 1, size=(rows, len(COLUMNS)))
        table[:, -1] = 3 + 8 * table[:, 0] + 2 * table[:, 1] * table[:, 10] + table[:, 9]
        path = os.path.join(folder, f"trips_{i:02d}.csv")
        np.savetxt(path, table, delimiter=",", fmt="%.4f", header=",".join(COLUMNS), comments="")
        paths.append(path)
    return paths


class TripReader:
    def __init__(self, batch_size):
        self.batch_size = batch_size
        self.defaults = [[0.0]] * len(COLUMNS)

    def parse(self, line):
        values = tf.io.decode_csv(line, record_defaults=self.defaults)
        features = dict(zip(COLUMNS, values))
        fare = features.pop("fare")
        shifted = [
            features["dropoff_x"] - features["pickup_x"],
            features["dropoff_y"] - features["pickup_y"],
            tf.sin(6.2832 * features["hour"]),
            tf.cos(6.2832 * features["hour"]),
        ]
        return tf.stack(list(features.values()) + shifted, axis=-1), fare

    def read(self, paths):
        lines = tf.data.Dataset.from_tensor_slices(paths).flat_map(
            lambda path: tf.data.TextLineDataset(path).skip(1)
        )
        ds = lines.batch(self.batch_size, drop_remainder=True)
        ds = ds.map(self.parse, num_parallel_calls=tf.data.AUTOTUNE)
        return ds.prefetch(2)


def build_model(width):
    model = keras.Sequential(
        [
            keras.Input((len(COLUMNS) + 3,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(1),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.005), loss="mse", jit_compile=False)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rows", type=int, default=10000)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=500)
    args = parser.parse_args()

    keras.utils.set_random_seed(7)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_trips(folder, args.files, args.rows, seed=7)
        train = TripReader(args.batch_size).read(paths)
        model = build_model(64)
        history = model.fit(train, epochs=args.epochs, verbose=0)
    print("loss", [round(v, 4) for v in history.history["loss"]])


if __name__ == "__main__":
    main()
