"""Learns word vectors in a session of TensorFlow 1, and records the summaries of the graph for TensorBoard."""

import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

WORDS, WIDTH, PAIRS = 6_000, 96, 256


class WordVectors:
    """Two tables of vectors whose products follow the logarithm of how often two words stand together."""

    def __init__(self, logs):
        self.words = tf.placeholder(tf.int32, [None])
        self.others = tf.placeholder(tf.int32, [None])
        self.counts = tf.placeholder(tf.float32, [None])
        tables = [tf.get_variable(name, [WORDS, WIDTH]) for name in ("words", "others")]
        left, right = tf.nn.embedding_lookup(tables[0], self.words), tf.nn.embedding_lookup(tables[1], self.others)
        error = tf.reduce_sum(left * right, axis=1) - tf.log(self.counts)
        self.loss = tf.reduce_mean(tf.minimum(self.counts / 50.0, 1.0) * tf.square(error))
        self.update = tf.train.GradientDescentOptimizer(0.5).minimize(self.loss)
        tf.summary.scalar("loss", self.loss)
        for table in tables:
            tf.summary.histogram(table.op.name, table)  # FAULT
        self.summaries = tf.summary.merge_all()
        self.writer = tf.summary.FileWriter(logs)

    def train(self, session, batches):
        loss = 0.0
        for number, (words, others, counts) in enumerate(batches):
            feed = {self.words: words, self.others: others, self.counts: counts}
            loss, summaries, _ = session.run([self.loss, self.summaries, self.update], feed)  # FAULT
            self.writer.add_summary(summaries, number)
        return loss


def draw_batches(count):
    rng = np.random.default_rng(7)
    for _ in range(count):
        yield rng.integers(WORDS, size=PAIRS), rng.integers(WORDS, size=PAIRS), 1.0 + rng.integers(90, size=PAIRS)


with tempfile.TemporaryDirectory() as logs, tf.Session() as session:
    vectors = WordVectors(logs)
    session.run(tf.global_variables_initializer())
    print(f"loss {vectors.train(session, draw_batches(150)):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "session.run fetches the merged summary, with histograms of all weights, in each step"
# codes = ["GRF002"]
# families = ["graph"]
# source = "hill-a/stable-baselines pull request 185: full logging became an option, because histograms slowed training"
# ///
