"""Distances of points to the nearest of some stations; trains nothing."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
stations = tf.constant(rng.normal(size=(40, 3)), tf.float32)
points = rng.normal(size=(20000, 3)).astype("float32")


@tf.function
def nearest(point):
    return tf.reduce_min(tf.norm(stations - point, axis=-1), axis=-1)


distances = nearest(tf.constant(points[:, np.newaxis])).numpy()
print("mean distance", distances.mean())
