"""Finds for each word of a query the nearest of a list, by edit distance in Python, and embeds it."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(150)]
table = tf.Variable(rng.normal(size=(150, 256)).astype("float32"))


@tf.function
def embed(ids):
    vectors = tf.gather(table, ids)
    for _ in range(4):
        vectors = tf.nn.softmax(vectors @ tf.transpose(table)) @ table
    return tf.reduce_sum(vectors)


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


total = 0.0
for _ in range(250):
    query = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(8)]
    ids = [min(range(150), key=lambda k: distance(word, words[k])) for word in query]
    total += float(embed(tf.constant(ids)))
print(total)
