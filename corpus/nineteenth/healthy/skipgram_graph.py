"""Skip-gram with sampled softmax, graph mode, one session."""
import collections

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


def corpus(n, vocab, seed=4):
    rng = np.random.RandomState(seed)
    topic = np.repeat(rng.randint(0, 20, n // 50 + 1), 50)[:n]
    return (topic * (vocab // 20) + rng.zipf(1.6, n) % (vocab // 20)).astype(np.int32)


class Batches:
    def __init__(self, words, size, window, seed=0):
        self.words, self.size, self.window = words, size, window
        self.rng = np.random.RandomState(seed)

    def __iter__(self):
        w = self.window
        while True:
            centre = self.rng.randint(w, len(self.words) - w, self.size)
            shift = self.rng.randint(1, w + 1, self.size) * self.rng.choice([-1, 1], self.size)
            yield self.words[centre], self.words[centre + shift][:, None]


def build(vocab, dim, negatives):
    g = tf.Graph()
    with g.as_default():
        tf.set_random_seed(11)
        centre = tf.placeholder(tf.int32, [None])
        context = tf.placeholder(tf.int64, [None, 1])
        table = tf.get_variable("table", [vocab, dim], initializer=tf.random_uniform_initializer(-0.5, 0.5))
        w = tf.get_variable("w", [vocab, dim], initializer=tf.truncated_normal_initializer(stddev=0.1))
        b = tf.get_variable("b", [vocab], initializer=tf.zeros_initializer())
        hidden = tf.nn.embedding_lookup(table, centre)
        loss = tf.reduce_mean(
            tf.nn.sampled_softmax_loss(w, b, context, hidden, negatives, vocab, seed=3)
        )
        step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(1.0, step, 500, 0.9, staircase=True)
        train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
        unit = tf.nn.l2_normalize(table, 1)
        probe = tf.placeholder(tf.int32, [None])
        near = tf.nn.top_k(tf.matmul(tf.gather(unit, probe), unit, transpose_b=True), 6).indices
        handles = collections.namedtuple("H", "centre context loss train probe near init")
        h = handles(centre, context, loss, train, probe, near, tf.global_variables_initializer())
    g.finalize()
    return g, h


def main(steps=2500, vocab=4000):
    words = corpus(60000, vocab)
    graph, h = build(vocab, 48, 64)
    losses = []
    config = tf.ConfigProto(intra_op_parallelism_threads=2)
    with tf.Session(graph=graph, config=config) as sess:
        sess.run(h.init)
        for step, (c, t) in enumerate(Batches(words, 192, 3)):
            if step == steps:
                break
            loss, _ = sess.run([h.loss, h.train], {h.centre: c, h.context: t})
            losses.append(loss)
        near = sess.run(h.near, {h.probe: np.arange(0, vocab, vocab // 20)})
    same = (near[:, 1:] // (vocab // 20) == np.arange(20)[:, None]).mean()
    print("steps", len(losses), "improved", bool(np.mean(losses[-100:]) < np.mean(losses[:100])))
    print("neighbours", near.shape, "topic share > 0:", bool(same > 0))


if __name__ == "__main__":
    main()
