"""Ground water levels at wells: a learned trend, corrected by kriging of the residuals."""
import argparse

import keras
import numpy as np
import tensorflow as tf


class KrigingCorrection(keras.layers.Layer):
    """Spreads the residuals at the stations to the wells (simple kriging with a fixed covariance)."""

    def __init__(self, stations, wells, reach=0.25, nugget=1e-2, **kwargs):
        super().__init__(**kwargs)
        self.stations, self.wells, self.reach, self.nugget = stations, wells, reach, nugget

    def build(self, input_shape):
        between = np.linalg.norm(self.stations[:, None] - self.stations[None], axis=-1)
        across = np.linalg.norm(self.wells[:, None] - self.stations[None], axis=-1)
        covariance = np.exp(-between / self.reach) + self.nugget * np.eye(len(self.stations))
        self.covariance = self.keep(covariance, "covariance")
        self.cross = self.keep(np.exp(-across / self.reach), "cross")

    def keep(self, values, name):
        fill = keras.initializers.Constant(values.astype("float32"))
        return self.add_weight(shape=values.shape, initializer=fill, trainable=False, name=name)

    def call(self, residuals):
        weights = tf.matmul(self.cross, tf.linalg.inv(self.covariance))
        return tf.matmul(residuals, weights, transpose_b=True)


class LevelModel(keras.Model):
    def __init__(self, stations, wells):
        super().__init__()
        self.trend = keras.Sequential([keras.layers.Dense(64, "relu"), keras.layers.Dense(len(stations))])
        self.scale = keras.layers.Dense(len(stations), use_bias=False, kernel_initializer="identity")
        self.kriging = KrigingCorrection(stations, wells)
        self.offset = keras.layers.Dense(len(wells))

    def call(self, inputs):
        weather, measured = inputs
        residuals = measured - self.trend(weather)
        return self.kriging(self.scale(residuals)) + self.offset(weather)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stations", type=int, default=640)
    parser.add_argument("--wells", type=int, default=120)
    parser.add_argument("--weeks", type=int, default=2560)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()

    keras.utils.set_random_seed(17)
    rng = np.random.default_rng(17)
    stations, wells = rng.random((args.stations, 2)), rng.random((args.wells, 2))
    weather = rng.normal(size=(args.weeks, 12)).astype("float32")
    measured = rng.normal(size=(args.weeks, args.stations)).astype("float32")
    levels = rng.normal(size=(args.weeks, args.wells)).astype("float32")

    model = LevelModel(stations, wells)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    history = model.fit((weather, measured), levels, batch_size=64, epochs=args.epochs, verbose=2)
    print("loss", round(history.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
