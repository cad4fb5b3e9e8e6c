"""Distances of points to the nearest of some stations; trains nothing."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
stations = tf.constant(rng.normal(size=(40, 3)), tf.float32)
points = rng.normal(size=(20000, 3)).astype("float32")


@tf.function
def nearest(point):
    return tf.reduce_min(tf.norm(stations - point, axis=-1), axis=-1)


distances = np.zeros(len(points), np.float32)
for index, point in enumerate(points):
    distances[index] = nearest(tf.constant(point)).numpy()  # FAULT
print("mean distance", distances.mean())

# /// fault
# style = "custom"
# kind = "time"
# cause = "A compiled function is called for one point at a time"
# codes = ["EAG013", "EAG008"]
# families = ["eager"]
# source = "tensorflow.org guide 'Better performance with tf.function': graphs of few operations gain little"
# ///
