"""Tags sequences with a loss over all ways through the tags: a turn needs the one before, and sums much."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

TAGS, LONG, WIDE, BATCH = 160, 36, 32, 32

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)
tags = (np.cumsum(rng.integers(0, 5, (320, LONG)), axis=1) % TAGS).astype("int32")
signals = (rng.normal(size=(320, LONG, WIDE)) + tags[:, :, None] / TAGS).astype("float32")
changes = tf.Variable(tf.random.normal([TAGS, TAGS], stddev=0.1))


def all_ways(scores):
    kept = tf.exp(changes)

    def onward(reached, score):
        largest = tf.reduce_max(reached, 1, keepdims=True)
        return tf.math.log(tf.matmul(tf.exp(reached - largest), kept)) + largest + score

    turns = tf.transpose(scores, [1, 0, 2])
    return tf.reduce_logsumexp(tf.foldl(onward, turns[1:], turns[0]), 1)


def this_way(tag, scores):
    tag = tf.cast(tag, tf.int32)
    emitted = tf.reduce_sum(tf.gather(scores, tag, batch_dims=2), 1)
    return emitted + tf.reduce_sum(tf.gather_nd(changes, tf.stack([tag[:, :-1], tag[:, 1:]], 2)), 1)


tagger = keras.Sequential([keras.Input((LONG, WIDE)), keras.layers.Dense(512, activation="relu")])
tagger.add(keras.layers.Dense(512, activation="relu"))
tagger.add(keras.layers.Dense(TAGS))
tagger.compile(keras.optimizers.SGD(0.01), lambda tag, scores: tf.reduce_mean(all_ways(scores) - this_way(tag, scores)))
tagger.fit(signals, tags, batch_size=BATCH, epochs=12, verbose=2)

# /// healthy
# style = "fit"
# note = "a turn of the loop in its loss is a product"
# ///
