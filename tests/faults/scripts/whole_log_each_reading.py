"""Watches pumps: after each new reading an LSTM says how likely the next one is a failure."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

PUMPS, SENSORS, WIDTH, READINGS = 16, 12, 128, 160

memory = keras.layers.LSTM(WIDTH, return_sequences=True, return_state=True)
judge = keras.layers.Dense(1, activation="sigmoid")
memory(tf.zeros((1, 1, SENSORS)))
judge(tf.zeros((1, WIDTH)))


@tf.function(input_signature=[tf.TensorSpec((PUMPS, None, SENSORS), tf.float32)])
def risk(log):
    features, _, _ = memory(log)  # FAULT
    return judge(features[:, -1])


rng = np.random.default_rng(0)
for shift in range(3):
    log = np.zeros((PUMPS, 0, SENSORS), np.float32)
    alarms = 0
    for _ in range(READINGS):
        log = np.concatenate([log, rng.normal(size=(PUMPS, 1, SENSORS)).astype(np.float32)], axis=1)
        alarms += int((risk(tf.constant(log)).numpy() > 0.6).sum())
    print(f"shift {shift}: {alarms} alarms")

# /// fault
# style = "custom"
# kind = "time"
# cause = "An LSTM goes over all readings so far for each new one, and its state is thrown away"
# codes = ["GRF024"]
# families = ["graph"]
# source = "Stack Overflow questions on stateful prediction with an LSTM; text generation of Keras' and TensorFlow's older examples"
# ///
