"""Scores reviews of any length with a small attention pooling compiled by XLA."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
table = tf.Variable(rng.normal(size=(4000, 48)).astype("float32"))
query = tf.Variable(rng.normal(size=(48, 4)).astype("float32"))
head = tf.Variable(rng.normal(size=(192, 5)).astype("float32"))


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None], tf.int32)])
def score(tokens):
    words = tf.gather(table, tokens)
    weights = tf.nn.softmax(words @ query, axis=0)
    return tf.nn.softmax(tf.reshape(tf.transpose(weights) @ words, [1, -1]) @ head)


lengths = rng.permutation(np.arange(20, 140))
reviews = [rng.integers(1, 4000, size=n).astype("int32") for n in lengths] * 2
stars = []
for review in reviews:
    stars.append(int(tf.argmax(score(review)[0])))
print(np.bincount(stars, minlength=5))
