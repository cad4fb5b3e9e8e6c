"""Walks uphill on a kernel density of measured points, in the session style of TensorFlow 1."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


class Density:
    """The density of points, evaluated wherever it is asked for."""

    def __init__(self, points, width):
        self.points = tf.constant(points)
        self.width = width
        self.session = tf.Session()

    def kernel(self, offsets):
        return tf.exp(-tf.reduce_sum(tf.square(offsets), axis=1) / (2 * self.width**2))

    def at(self, place):
        weights = self.kernel(self.points - place)  # FAULT
        uphill = tf.reduce_sum((self.points - place) * weights[:, None], axis=0)  # FAULT
        return self.session.run([tf.reduce_mean(weights), uphill / tf.reduce_sum(weights)])  # FAULT


def climb(density, place, turns):
    for _ in range(turns):
        height, step = density.at(place)  # FAULT
        place = place + 0.05 * step
    return place, height


rng = np.random.default_rng(8)
points = np.concatenate([rng.normal(centre, 0.7, (1500, 3)) for centre in (-2, 0.5, 3)]).astype("float32")
density = Density(points, 0.5)
for start in ([-3, -3, -3], [4, 4, 4]):
    top, height = climb(density, np.array(start, "float32"), 150)
    print("top", np.round(top, 2), "height", float(height))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Each turn of a loop adds operations to the session's graph, in the method that it calls"
# codes = ["MEM002"]
# families = ["memory", "graph"]
# source = "Stack Overflow questions on session.run in a loop that gets slower and slower: the graph grows in a helper"
# ///
