"""A classifier of short signals, still compiled with run_eagerly=True from a debugging session."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
tf.keras.utils.set_random_seed(9)
signals = rng.normal(size=(2560, 64, 2)).astype("float32")
kinds = rng.integers(0, 4, 2560)
model = tf.keras.Sequential(
    [
        tf.keras.Input((64, 2)),
        tf.keras.layers.Conv1D(16, 5, activation="relu"),
        tf.keras.layers.MaxPool1D(2),
        tf.keras.layers.Conv1D(16, 5, activation="relu"),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(4),
    ]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"], run_eagerly=True)  # FAULT
model.fit(signals, kinds, epochs=3, batch_size=32, verbose=2)
