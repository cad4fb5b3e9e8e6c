"""Trains on sensor windows; the numbers of steps are taken from the arrays."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
x = rng.normal(size=(8_000, 48)).astype("float32")
y = (x[:, :4].sum(axis=1) > 0).astype("float32")
held_x, held_y = x[:1_200] + 0.05, y[:1_200]
train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8_000).batch(64).prefetch(2)
held = tf.data.Dataset.from_tensor_slices((held_x, held_y)).batch(64).repeat()

hidden = [tf.keras.layers.Dense(256, activation="relu") for _ in range(3)]
model = tf.keras.Sequential([tf.keras.Input((48,)), *hidden, tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=6, validation_data=held, validation_steps=len(held_x), verbose=2)  # FAULT

# /// fault
# style = "fit"
# kind = "time"
# cause = "validation_steps is the number of examples, and the dataset repeats: each validation goes through it 64 times"
# codes = ["STP013"]
# families = ["step"]
# source = "Stack Overflow questions on steps_per_epoch and validation_steps that count batches; Keras' own warning 'Your input ran out of data'"
# ///
