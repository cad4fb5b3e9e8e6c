"""Parcel demand for twelve regions: one expert network per region, shared trunk."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

REGIONS = 12


class RegionExperts(keras.layers.Layer):
    """The expert of a row is chosen by the row's region."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        width = shape[0][-1]
        self.first = [self.add_weight(shape=(width, self.units), name=f"first_{r}") for r in range(REGIONS)]
        self.second = [self.add_weight(shape=(self.units, width), name=f"second_{r}") for r in range(REGIONS)]

    def expert(self, region, rows):
        return tf.nn.relu(rows @ self.first[region]) @ self.second[region]

    def call(self, inputs):
        rows, region = inputs
        result = tf.zeros_like(rows)
        for r in range(REGIONS):
            chosen = tf.equal(region, r)
            result = tf.where(chosen[:, None], self.expert(r, rows), result)
        return rows + result


def build_model(features):
    rows = keras.Input((features,), name="rows")
    region = keras.Input((), dtype="int32", name="region")
    x = keras.layers.Dense(64, activation="relu")(rows)
    x = RegionExperts(384)([x, region])
    model = keras.Model([rows, region], keras.layers.Dense(1)(x))
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    return model


def parcels(count, features, rng):
    rows = rng.normal(size=(count, features)).astype("float32")
    region = rng.integers(0, REGIONS, count).astype("int32")
    pull = rng.normal(size=(REGIONS, features))
    demand = np.einsum("nf,nf->n", rows, pull[region]) + rng.normal(scale=0.1, size=count)
    return rows, region, demand.astype("float32")[:, None]


if __name__ == "__main__":
    keras.utils.set_random_seed(31)
    rows, region, demand = parcels(30000, 24, np.random.default_rng(6))
    model = build_model(24)
    model.fit({"rows": rows, "region": region}, demand, batch_size=1024, epochs=4, verbose=2)
