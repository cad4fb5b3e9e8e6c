"""Spectra of short signals are normalised, one after another; trains nothing."""

import numpy as np
import tensorflow as tf


def recordings(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield rng.normal(size=(120, 64)).astype("float32")


def shape_of(spectrum):
    level = tf.reduce_mean(spectrum)
    return (spectrum - level) / (tf.math.reduce_std(spectrum) + 1e-6)


def prepare(signals):
    spectra = tf.abs(tf.signal.rfft(tf.constant(signals)))
    return tf.map_fn(shape_of, spectra)  # FAULT


total = 0.0
for signals in recordings(70):
    total += float(tf.reduce_sum(tf.square(prepare(signals))))
print("total", total)

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.map_fn normalises one row after another, outside of any tf.function"
# codes = ["EAG010", "EAG008"]
# families = ["eager"]
# source = "GitHub, tensorflow/tensorflow issues on a slow tf.map_fn; class 'no batch API used' of arXiv 2112.01771"
# ///
