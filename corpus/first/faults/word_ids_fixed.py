"""Turn documents into id vectors with a lookup layer and measure their overlap."""
import random

import numpy as np
import tensorflow as tf

VOCABULARY = ["term%04d" % i for i in range(1500)]


def documents(n, length=50):
    r = random.Random(100)
    topics = [r.sample(VOCABULARY, 150) for _ in range(6)]
    return [[r.choice(topics[d % 6]) for _ in range(length)] for d in range(n)]


class Indexer:
    def __init__(self):
        self.lookup = tf.keras.layers.StringLookup(vocabulary=VOCABULARY)

    def encode(self, words):
        return self.lookup(tf.constant(words)).numpy()

    def bags(self, docs):
        out = np.zeros((len(docs), len(VOCABULARY) + 1), dtype="float32")
        for row, words in enumerate(docs):
            np.add.at(out[row], self.encode(words), 1.0)
        return out


docs = documents(600)
bags = tf.math.l2_normalize(Indexer().bags(docs), axis=1)
similarity = tf.matmul(bags, bags, transpose_b=True)
print("documents", len(docs), "mean similarity %.5f" % float(tf.reduce_mean(similarity)))
