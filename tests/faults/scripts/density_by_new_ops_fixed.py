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
        self.place = tf.placeholder(tf.float32, [points.shape[1]])
        weights = self.kernel(self.points - self.place)
        uphill = tf.reduce_sum((self.points - self.place) * weights[:, None], axis=0)
        self.results = [tf.reduce_mean(weights), uphill / tf.reduce_sum(weights)]

    def kernel(self, offsets):
        return tf.exp(-tf.reduce_sum(tf.square(offsets), axis=1) / (2 * self.width**2))

    def at(self, place):
        return self.session.run(self.results, {self.place: place})


def climb(density, place, turns):
    for _ in range(turns):
        height, step = density.at(place)
        place = place + 0.05 * step
    return place, height


rng = np.random.default_rng(8)
points = np.concatenate([rng.normal(centre, 0.7, (1500, 3)) for centre in (-2, 0.5, 3)]).astype("float32")
density = Density(points, 0.5)
for start in ([-3, -3, -3], [4, 4, 4]):
    top, height = climb(density, np.array(start, "float32"), 150)
    print("top", np.round(top, 2), "height", float(height))
