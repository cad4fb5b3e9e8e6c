"""Features of pictures by kernels that nobody trains: random ones, which are no product of a column and a row."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
first = tf.constant(rng.normal(size=(7, 7, 16, 64)).astype("float32") * 0.04)
second = tf.constant(rng.normal(size=(5, 5, 64, 64)).astype("float32") * 0.03)


@tf.function
def features(pictures):
    maps = tf.nn.relu(tf.nn.conv2d(pictures, first, 1, "SAME"))
    return tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(maps, second, 1, "SAME")), axis=(1, 2))


pictures = tf.constant(rng.normal(size=(8, 48, 48, 16)).astype("float32"))
total = sum(features(pictures + 0.01 * shift).numpy().sum() for shift in range(60))
print(f"sum of features: {total:.1f}")

# /// healthy
# style = "custom"
# note = "constant kernels that are no products of a column and a row"
# ///
