"""A whole table is predicted at once, in batches; trains nothing."""

import numpy as np
import tensorflow as tf

model = tf.keras.Sequential(
    [tf.keras.Input((16,)), tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(3)]
)
table = np.random.default_rng(0).normal(size=(9000, 16)).astype("float32")
classes = model.predict(table, batch_size=1, verbose=0).argmax(axis=1)  # FAULT
print("classes", np.bincount(classes))

# /// fault
# style = "fit"
# kind = "time"
# cause = "model.predict goes through the table with batch_size=1"
# codes = ["EAG004"]
# families = ["eager"]
# source = "Stack Overflow questions on a predict that takes longer than training"
# ///
