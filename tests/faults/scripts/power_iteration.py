"""The leading eigenvectors of a graph's matrix, by power iteration; trains nothing."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)


class Spectrum:
    def __init__(self, matrix):
        self.matrix = tf.constant(matrix, tf.float32)

    def refine(self, vectors):  # FAULT
        for _ in range(20):
            vectors = tf.matmul(self.matrix, vectors)
            centred = vectors - tf.reduce_mean(vectors, axis=0, keepdims=True)
            vectors = centred / (tf.norm(centred, axis=0, keepdims=True) + 1e-9)
        return vectors

    def leading(self, rounds):
        vectors = tf.random.stateless_normal((self.matrix.shape[0], 4), [1, 2])
        done = 0
        while done < rounds:
            vectors = self.refine(vectors)
            done += 1
        return vectors


links = rng.random((96, 96))
vectors = Spectrum((links + links.T) / 2).leading(900)
print("norm", float(tf.norm(vectors)))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Each product and norm of a power iteration is called from Python, outside of any tf.function"
# codes = ["EAG008"]
# families = ["eager"]
# source = "Stack Overflow questions on eager loops far slower than NumPy"
# ///
