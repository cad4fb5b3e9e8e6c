"""Windows of sensor data are standardised and weighted by a compiled function; trains nothing."""

import numpy as np
import tensorflow as tf


def standardise(window):
    centred = window - tf.reduce_mean(window)
    return tf.tanh(centred / (tf.math.reduce_std(centred) + 1e-6))


@tf.function
def prepare(windows):
    return tf.reduce_mean(tf.map_fn(standardise, windows), axis=0)  # FAULT


rng = np.random.default_rng(0)
windows = tf.constant(rng.normal(size=(2500, 48)), tf.float32)
total = 0.0
for shift in range(90):
    total += float(tf.reduce_sum(prepare(tf.roll(windows, shift, axis=1))))
print("total", round(total, 1))

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.map_fn in a compiled function standardises one row in a turn, so the runtime's loop takes nearly all of the time"
# codes = ["GRF005"]
# families = ["graph"]
# source = "GitHub, tensorflow/tensorflow issues on a slow tf.map_fn in graphs; class 'no batch API used' of arXiv 2112.01771"
# ///
