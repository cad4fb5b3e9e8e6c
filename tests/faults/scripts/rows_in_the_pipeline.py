"""Train on windows of a sensor; the pipeline gives each row of a batch the mean 0 and the deviation 1."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

rng = np.random.default_rng(0)
windows = rng.normal(3.0, 2.0, (12_000, 48)).astype(np.float32)
labels = (windows[:, :24].mean(1) > windows[:, 24:].mean(1)).astype(np.int32)


def standardize(row):
    row = row - tf.reduce_mean(row)
    row = row / tf.maximum(tf.math.reduce_std(row), 1e-3)
    return tf.clip_by_value(row, -3.0, 3.0)


def prepare(rows, label):
    return tf.map_fn(standardize, rows), label  # FAULT


data = tf.data.Dataset.from_tensor_slices((windows, labels)).shuffle(12_000).batch(200)
data = data.map(prepare, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
model = keras.Sequential([keras.Input((48,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(data, epochs=6, verbose=0)
print(f"loss {history.history['loss'][-1]:.3f}")

# /// fault
# style = "fit"
# kind = "time"
# cause = "The map's function loops over the rows of a batch by tf.map_fn"
# codes = ["GRF005"]
# families = ["graph", "input"]
# source = "GitHub, tensorflow/tensorflow #24774 (tf.map_fn is slow) and questions on per-row work in Dataset.map"
# ///
