"""Names minerals by their spectra, and keeps each that was measured: the library is never the same."""

import numpy as np
import tensorflow as tf

REFERENCES, CHANNELS, EACH, REQUESTS = 12_000, 512, 64, 120


class Library:
    def __init__(self, spectra):
        self.spectra = tf.Variable(spectra)
        self.kept = tf.Variable(0)

    @tf.function
    def nearest(self, measured):
        measured = scaled(measured)
        references = scaled(self.spectra)
        likeness = tf.linalg.matmul(measured, references, transpose_b=True)
        return tf.argmax(likeness, axis=1)

    @tf.function
    def keep(self, measured):
        rows = (self.kept + tf.range(tf.shape(measured)[0])) % REFERENCES
        self.spectra.scatter_update(tf.IndexedSlices(measured, rows))
        self.kept.assign_add(tf.shape(measured)[0])


def scaled(spectra):
    middle = tf.reduce_mean(spectra, axis=1, keepdims=True)
    spread = tf.math.reduce_std(spectra, axis=1, keepdims=True)
    return (spectra - middle) / spread


random = np.random.default_rng(4)
spectra = random.random((REFERENCES, CHANNELS), dtype=np.float32).cumsum(axis=1)
library = Library(spectra)
right = 0
for number in range(REQUESTS):
    place = random.integers(0, REFERENCES, EACH)
    measured = spectra[place] + random.normal(0, 0.1, (EACH, CHANNELS)).astype("float32")
    right += int(np.sum(library.nearest(tf.constant(measured)).numpy() == place))
    library.keep(tf.constant(measured))
print(f"{right} of {EACH * REQUESTS} named")

# /// healthy
# style = "custom"
# note = "what it scales in each search another function changes"
# ///
