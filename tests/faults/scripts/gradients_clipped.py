"""Forecasts several series, each by a small network of its own, with each gradient clipped by its norm."""

import numpy as np
import tensorflow as tf

SERIES, LONG, WIDE, BATCH = 32, 24, 16, 64

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
walks = np.cumsum(rng.normal(scale=0.1, size=(6400, SERIES, LONG + 1)), axis=2).astype("float32")

past = tf.keras.Input((SERIES, LONG))
guesses = []
for number in range(SERIES):
    hidden = tf.keras.layers.Dense(WIDE, activation="relu")(past[:, number])
    guesses.append(tf.keras.layers.Dense(1)(hidden))
model = tf.keras.Model(past, tf.keras.layers.Concatenate()(guesses))
optimizer = tf.keras.optimizers.SGD(
    0.01,
    clipnorm=10.0,  # FAULT
)
model.compile(optimizer, "mse")
model.fit(walks[:, :, :LONG], walks[:, :, LONG], batch_size=BATCH, epochs=8, verbose=2)

# /// fault
# style = "custom"
# kind = "time"
# cause = "Each of many small gradients is clipped by its norm in each step, and no norm comes near the limit"
# codes = ["GRF029"]
# families = ["graph"]
# source = "keras.io, optimizers' clipnorm; tf.clip_by_norm in loops over gradients, as in many agents and recurrent networks"
# ///
