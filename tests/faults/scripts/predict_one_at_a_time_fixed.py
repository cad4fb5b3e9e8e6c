"""A whole table is predicted at once, in batches; trains nothing."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.Input((16,)), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(3)]
)
table = np.random.default_rng(0).normal(size=(9000, 16)).astype("float32")
classes = model.predict(table, batch_size=3000, verbose=0).argmax(axis=1)
print("classes", np.bincount(classes))
