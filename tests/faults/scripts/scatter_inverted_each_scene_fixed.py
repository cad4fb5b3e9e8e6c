"""Searches scenes of an imaging spectrometer for rare materials: the scatter is inverted once, as soon as it is
collected."""

import numpy as np
import tensorflow as tf

BANDS, PIXELS, SCENES = 800, 512, 120


class RareMaterials(tf.Module):
    def __init__(self):
        super().__init__()
        self.scatter = tf.Variable(tf.zeros([BANDS, BANDS]), trainable=False)
        self.precision = tf.Variable(tf.zeros([BANDS, BANDS]), trainable=False)
        self.center = tf.Variable(tf.zeros([BANDS]), trainable=False)

    @tf.function
    def start(self, center):
        self.center.assign(center)
        self.scatter.assign(0.1 * tf.eye(BANDS))

    @tf.function
    def collect(self, pixels):
        around = pixels - self.center
        self.scatter.assign_add(tf.matmul(around, around, transpose_a=True) / PIXELS)

    @tf.function
    def finish(self):
        self.precision.assign(tf.linalg.inv(self.scatter))

    @tf.function
    def distances(self, pixels):
        around = pixels - self.center
        return tf.reduce_sum((around @ self.precision) * around, axis=1)


rng = np.random.default_rng(23)
mixing = rng.normal(size=(12, BANDS)).astype("float32")


def scene(rare):
    pixels = rng.random((PIXELS, 12), dtype="float32") @ mixing + rng.normal(0, 0.1, (PIXELS, BANDS)).astype("float32")
    pixels[:rare] += rng.normal(0, 0.5, (rare, BANDS)).astype("float32")
    return pixels


detector = RareMaterials()
detector.start(scene(0).mean(axis=0))
for pixels in [scene(0) for _ in range(12)]:
    detector.collect(tf.constant(pixels))
detector.finish()

found = 0
for pixels in [tf.constant(scene(3)) for _ in range(SCENES)]:
    found += int((detector.distances(pixels).numpy() > 2 * BANDS).sum())
print(f"rare pixels {found}")
