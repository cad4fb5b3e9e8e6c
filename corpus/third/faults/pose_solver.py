"""Fit a camera pose to each view: a general minimiser that takes the loss as a function."""
import math

import numpy as np
import tensorflow as tf


class Minimiser:
    """Momentum descent on any loss of a vector."""

    def __init__(self, rate=2e-2, momentum=0.8, iterations=30):
        self.rate, self.momentum, self.iterations = rate, momentum, iterations

    @tf.function
    def solve(self, loss, start):
        place, speed = start, tf.zeros_like(start)
        for _ in tf.range(self.iterations):
            slope = tf.gradients(loss(place), place)[0]
            speed = self.momentum * speed - self.rate * slope
            place += speed
        return place


def rotation(angles):
    a, b, c = tf.unstack(angles)
    one, zero = tf.ones([]), tf.zeros([])
    x = tf.stack([[one, zero, zero], [zero, tf.cos(a), -tf.sin(a)], [zero, tf.sin(a), tf.cos(a)]])
    y = tf.stack([[tf.cos(b), zero, tf.sin(b)], [zero, one, zero], [-tf.sin(b), zero, tf.cos(b)]])
    z = tf.stack([[tf.cos(c), -tf.sin(c), zero], [tf.sin(c), tf.cos(c), zero], [zero, zero, one]])
    return x @ y @ z


def project(pose, points):
    seen = points @ rotation(pose[:3]) + pose[3:]
    return seen[:, :2] / (seen[:, 2:] + 6.0)


def reprojection(pose, points, pixels):
    return tf.reduce_mean(tf.reduce_sum(tf.square(project(pose, points) - pixels), 1)) * 10.0


def views(count, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        points = rng.normal(size=(400, 3)).astype("float32")
        pose = rng.normal(scale=0.2, size=6).astype("float32")
        yield tf.constant(points), project(tf.constant(pose), tf.constant(points)), pose


def main(count=20):
    minimiser = Minimiser()
    errors = []
    for points, pixels, pose in views(count, 19):
        found = minimiser.solve(lambda guess: reprojection(guess, points, pixels), tf.zeros([6]))
        errors.append(float(tf.reduce_max(tf.abs(found - pose))))
    print(f"{count} views, mean error {sum(errors) / count:.4f}, worst {max(errors):.4f}",
          "ok" if math.isfinite(max(errors)) else "diverged")


if __name__ == "__main__":
    main()
