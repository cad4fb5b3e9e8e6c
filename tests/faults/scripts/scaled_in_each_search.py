"""Names minerals by their spectra: each spectrum is compared with all of a library."""

import numpy as np
import tensorflow as tf

REFERENCES, CHANNELS, EACH, REQUESTS = 12_000, 512, 64, 120


class Library:
    def __init__(self, spectra):
        self.spectra = tf.Variable(spectra)

    @tf.function
    def nearest(self, measured):
        measured = scaled(measured)
        references = scaled(self.spectra)  # FAULT
        likeness = tf.linalg.matmul(measured, references, transpose_b=True)
        return tf.argmax(likeness, axis=1)


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
print(f"{right} of {EACH * REQUESTS} named")

# /// fault
# style = "custom"
# kind = "time"
# cause = "A library of spectra, which nothing changes, is centred and scaled again in each search"
# codes = ["GRF023"]
# families = ["graph"]
# source = "Public code and Stack Overflow answers on cosine similarity in TensorFlow, with l2_normalize of the whole table in the function that is called for each query"
# ///
