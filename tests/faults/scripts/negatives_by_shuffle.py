"""Learns vectors of words by a few negatives for each pair, drawn again in each step."""

import numpy as np
import tensorflow as tf

WORDS, WIDTH, PAIRS, NEGATIVES = 400_000, 16, 128, 256

rng = np.random.default_rng(8)
centres = tf.Variable(rng.normal(0, 0.1, (WORDS, WIDTH)).astype("float32"))
contexts = tf.Variable(tf.zeros([WORDS, WIDTH]))
pairs = rng.integers(0, WORDS, (40, PAIRS, 2)).astype("int64")


@tf.function
def learn(pair):
    drawn = tf.random.shuffle(tf.range(WORDS, dtype=tf.int64))[:NEGATIVES]  # FAULT
    with tf.GradientTape() as tape:
        centre = tf.gather(centres, pair[:, 0])
        good = tf.reduce_sum(centre * tf.gather(contexts, pair[:, 1]), axis=1)
        bad = tf.matmul(centre, tf.gather(contexts, drawn), transpose_b=True)
        loss = tf.reduce_mean(tf.nn.softplus(-good)) + tf.reduce_mean(tf.nn.softplus(bad))
    for table, change in zip((centres, contexts), tape.gradient(loss, (centres, contexts))):
        table.scatter_sub(tf.IndexedSlices(0.5 * change.values, change.indices))
    return loss


for epoch in range(12):
    for pair in pairs:
        loss = learn(tf.constant(pair))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "All numbers of words are shuffled in each step to draw a few negatives"
# codes = ["GRF026"]
# families = ["graph"]
# source = "sampling by tf.random.shuffle(tf.range(n))[:k], as answered on Stack Overflow for drawing without putting back"
# ///
