"""Finds bright blobs of several sizes in pictures: differences of blurred pictures, compiled."""

import numpy as np
import tensorflow as tf

SIGMAS = (2.0, 3.0, 4.5, 6.5)


def gaussian(sigma):
    reach = np.arange(-np.ceil(3 * sigma), np.ceil(3 * sigma) + 1)
    weights = np.exp(-0.5 * (reach / sigma) ** 2)
    return (weights / weights.sum()).astype("float32")


kernels = [tf.constant(np.outer(gaussian(sigma), gaussian(sigma))[:, :, None, None]) for sigma in SIGMAS]


@tf.function
def blobs(pictures):
    levels = [tf.nn.conv2d(pictures, kernel, 1, "SAME") for kernel in kernels]  # FAULT
    found = []
    for fine, coarse in zip(levels[:-1], levels[1:]):
        peak = tf.nn.max_pool2d(fine - coarse, 5, 1, "SAME")
        found.append(tf.reduce_sum(tf.cast((fine - coarse == peak) & (peak > 0.02), tf.int32)))
    return tf.stack(found)


rng = np.random.default_rng(6)
pictures = tf.constant(rng.normal(0.1, 0.05, (2, 256, 256, 1)).astype("float32"))
total = sum(blobs(pictures + 0.001 * shift).numpy() for shift in range(30))
print("blobs by scale:", total)

# /// fault
# style = "custom"
# kind = "time"
# cause = "Pictures are blurred with whole Gaussian kernels, up to 41 x 41, which are products of two vectors"
# codes = ["GRF033"]
# families = ["graph"]
# source = "questions on Gaussian blur in TensorFlow, whose answers convolve with an outer product; separable filters in textbooks on image processing"
# ///
