"""A graph network over citations: each paper sums what the papers that it cites say."""

import numpy as np
import tensorflow as tf

PAPERS, CITATIONS, WIDTH = 1500, 6000, 16


class Hop(tf.Module):
    def __init__(self, width, name=None):
        super().__init__(name)
        self.weight = tf.Variable(tf.random.normal([width, width], stddev=0.2))

    def __call__(self, papers, cited, citing):
        messages = tf.nn.relu(tf.gather(papers, cited) @ self.weight)
        into = tf.one_hot(citing, PAPERS)  # FAULT
        return papers + tf.einsum("en,ed->nd", into, messages)  # FAULT


class Network(tf.Module):
    def __init__(self):
        super().__init__()
        self.hops = [Hop(WIDTH), Hop(WIDTH)]
        self.out = tf.Variable(tf.random.normal([WIDTH, 3], stddev=0.2))

    def __call__(self, papers, cited, citing):
        for hop in self.hops:
            papers = hop(papers, cited, citing)
        return papers @ self.out


tf.random.set_seed(3)
rng = np.random.default_rng(3)
papers = tf.constant(rng.normal(size=(PAPERS, WIDTH)).astype("float32"))
subject = tf.constant(rng.integers(0, 3, PAPERS).astype("int32"))
cited, citing = (tf.constant(rng.integers(0, PAPERS, CITATIONS).astype("int32")) for _ in range(2))
network = Network()
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def train_step(papers, cited, citing, subject):
    with tf.GradientTape() as tape:
        logits = network(papers, cited, citing)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=subject, logits=logits))
    variables = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for turn in range(120):
    loss = train_step(papers, cited, citing, subject)
print(f"loss {float(loss):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "Messages are summed by node through a one-hot matrix of all edges and nodes"
# codes = ["GRF010"]
# families = ["graph"]
# source = "Stack Overflow questions on summing rows by group in TensorFlow, answered with unsorted_segment_sum"
# ///
