"""Two-tower retrieval: the ten best products for each visitor of the shop."""

import time

import numpy as np
import tensorflow as tf

ITEMS, DIM, TOP = 120_000, 32, 10


class Retriever(tf.Module):
    def __init__(self, seed=0):
        g = np.random.default_rng(seed)
        self.items = tf.Variable(g.standard_normal((ITEMS, DIM)).astype("float32"), trainable=False)
        self.tower = tf.keras.Sequential(
            [
                tf.keras.Input((20,)),
                tf.keras.layers.Dense(64, activation="relu"),
                tf.keras.layers.Dense(DIM),
            ]
        )

    @tf.function(input_signature=[tf.TensorSpec([None, 20], tf.float32)])
    def recommend(self, visitors):
        query = self.tower(visitors)
        scores = tf.matmul(query, self.items, transpose_b=True)
        order = tf.argsort(scores, axis=-1, direction="DESCENDING")
        best = order[:, :TOP]
        return best, tf.gather(scores, best, batch_dims=1)


retriever = Retriever()
visitors = np.random.default_rng(1).standard_normal((64 * 16, 20)).astype("float32")
began = time.perf_counter()
hits = np.zeros(ITEMS, dtype=np.int64)
for start in range(0, len(visitors), 16):
    ids, value = retriever.recommend(tf.constant(visitors[start : start + 16]))
    np.add.at(hits, ids.numpy().ravel(), 1)
print(f"{len(visitors)} visitors served in {time.perf_counter() - began:.2f} s")
print("most shown product:", hits.argmax(), "shown", hits.max(), "times")
