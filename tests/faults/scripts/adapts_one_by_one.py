"""Prepares the layers of a model of house prices: scales numbers, collects a vocabulary."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
ROWS = 9_000
numbers = rng.gamma(2.0, 3.0, (ROWS, 8)).astype("float32")
prices = (numbers[:, 0] * 2 + numbers[:, 3]).astype("float32")

houses = tf.data.Dataset.from_tensor_slices((numbers, prices)).batch(1)
scale = tf.keras.layers.Normalization()
scale.adapt(houses.map(lambda row, price: row))  # FAULT

model = tf.keras.Sequential([tf.keras.Input((8,)), scale, tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mae")
print("loss", model.evaluate(houses.unbatch().batch(512), verbose=0))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Normalization.adapt goes through a dataset of batches of one"
# codes = ["EAG015"]
# families = ["eager"]
# source = "Stack Overflow questions on Normalization.adapt and TextVectorization.adapt that take for ever; Keras' guide on preprocessing layers"
# ///
