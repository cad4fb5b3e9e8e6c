"""Scores windows of a sensor's log: a deque holds the last readings, a compiled function rates them."""

from collections import deque

import numpy as np
import tensorflow as tf

CHANNELS, LENGTH = 192, 256
rng = np.random.default_rng(3)
weights = tf.constant(rng.normal(size=(CHANNELS, 4)).astype("float32"))


@tf.function
def rate(window):
    return tf.reduce_max(tf.nn.softmax(window @ weights, axis=-1), axis=0)


def readings(count):
    for _ in range(count):
        yield rng.normal(size=CHANNELS).astype("float32")


recent = deque([np.zeros(CHANNELS, "float32")] * LENGTH, maxlen=LENGTH)
highest = np.zeros(4)
for reading in readings(2_500):
    recent.append(reading)
    rows = list(recent)
    window = tf.constant(rows)  # FAULT
    highest = np.maximum(highest, rate(window).numpy())
print("highest", highest.round(3))

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.constant gets a list of arrays in each turn, whose numbers it takes one by one"
# codes = ["EAG016"]
# families = ["eager"]
# source = "Stack Overflow questions on tf.constant and tf.convert_to_tensor of lists that are slow; services that convert JSON"
# ///
