"""Learns which article follows a list of articles; each list is read by a GRU."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

ARTICLES, LONG, BATCH = 6000, 24, 64

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
lists = rng.integers(0, ARTICLES, (BATCH * 10, LONG)).astype("int32")
following = (lists[:, -1] * 7 + 3) % ARTICLES

known = keras.layers.Embedding(ARTICLES, 24)
reader = keras.layers.GRU(48, return_sequences=True)
scorer = keras.layers.Dense(ARTICLES)
network = keras.Sequential([known, reader])
network.build((None, LONG))
scorer.build((None, LONG, 48))
optimizer = keras.optimizers.SGD(0.1)
weights = network.trainable_weights + scorer.trainable_weights


@tf.function
def learn(batch, wanted):
    with tf.GradientTape() as tape:
        scores = scorer(network(batch, training=True))  # FAULT
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=scores[:, -1])  # FAULT
        )
    optimizer.apply(tape.gradient(loss, weights), weights)
    return loss


for epoch in range(4):
    for at in range(0, len(lists), BATCH):
        loss = learn(tf.constant(lists[at : at + BATCH]), tf.constant(following[at : at + BATCH]))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The scores of all articles are computed for each position, and those of the last position used"
# codes = ["GRF027"]
# families = ["graph"]
# source = "sequence recommenders that keep return_sequences=True before a Dense on the vocabulary; Stack Overflow questions on many-to-one models"
# ///
