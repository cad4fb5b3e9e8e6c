"""Learns which word follows another; the word vectors score all words too, and have a penalty as a whole."""

import numpy as np
import tensorflow as tf

WORDS, WIDE, BATCH = 20_000, 32, 128

tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
words = rng.integers(0, WORDS, BATCH * 60).astype("int32")
following = (words * 3 + 1) % WORDS

vectors = tf.Variable(tf.random.normal([WORDS, WIDE], stddev=0.1))
between = tf.Variable(tf.random.normal([WIDE, WIDE], stddev=0.2))
optimizer = tf.keras.optimizers.SGD(0.1)
optimizer.build([vectors, between])


@tf.function
def learn(batch, wanted):
    with tf.GradientTape() as tape:
        scores = tf.matmul(tf.gather(vectors, batch) @ between, vectors, transpose_b=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=scores))
        loss += 1e-6 * (tf.nn.l2_loss(vectors) + tf.nn.l2_loss(between))
    optimizer.apply(tape.gradient(loss, [vectors, between]), [vectors, between])
    return loss


for at in range(0, len(words), BATCH):
    loss = learn(tf.constant(words[at : at + BATCH]), tf.constant(following[at : at + BATCH]))
print("loss", float(loss))

# /// healthy
# style = "custom"
# ///
