"""Palette of a picture by k-means in TensorFlow."""
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(31)
anchors = rng.uniform(size=(24, 12))
pixels = (anchors[rng.integers(0, 24, size=120_000)] + rng.normal(scale=0.06, size=(120_000, 12))).astype("float32")

K = 48
X = tf.constant(pixels)


@tf.function
def lloyd(points, centres):
    gap = tf.expand_dims(points, 1) - tf.expand_dims(centres, 0)
    dist = tf.reduce_sum(tf.square(gap), axis=-1)
    label = tf.argmin(dist, axis=1)
    sums = tf.math.unsorted_segment_sum(points, label, K)
    sizes = tf.math.unsorted_segment_sum(tf.ones_like(points[:, 0]), label, K)
    new = tf.where(sizes[:, None] > 0, sums / tf.maximum(sizes, 1.0)[:, None], centres)
    return new, tf.reduce_mean(tf.reduce_min(dist, axis=1))


centres = X[:K]
for it in range(45):
    centres, inertia = lloyd(X, centres)
    if it % 15 == 0:
        print("iteration", it, "inertia %.5f" % float(inertia))
print("final inertia %.5f" % float(inertia))
