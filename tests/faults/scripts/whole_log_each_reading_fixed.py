"""Watches pumps: after each new reading an LSTM says how likely the next one is a failure."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

PUMPS, SENSORS, WIDTH, READINGS = 16, 12, 128, 160

memory = keras.layers.LSTM(WIDTH, return_sequences=True, return_state=True)
judge = keras.layers.Dense(1, activation="sigmoid")
memory(tf.zeros((1, 1, SENSORS)))
judge(tf.zeros((1, WIDTH)))


@tf.function
def risk(reading, hidden, cell):
    features, hidden, cell = memory(reading, initial_state=[hidden, cell])
    return judge(features[:, -1]), hidden, cell


rng = np.random.default_rng(0)
for shift in range(3):
    hidden = cell = tf.zeros((PUMPS, WIDTH))
    alarms = 0
    for _ in range(READINGS):
        reading = rng.normal(size=(PUMPS, 1, SENSORS)).astype(np.float32)
        likely, hidden, cell = risk(tf.constant(reading), hidden, cell)
        alarms += int((likely.numpy() > 0.6).sum())
    print(f"shift {shift}: {alarms} alarms")
