"""Evaluates a frozen visual question answering graph on a validation split."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


class VqaGraph(object):
    def __init__(self, vocab, answers, steps, dim=96):
        self.img = tf.placeholder(tf.float32, [None, 49, 64], name="img")
        self.question = tf.placeholder(tf.int32, [None, steps], name="question")
        self.answer = tf.placeholder(tf.int32, [None], name="answer")
        emb = tf.get_variable("emb", [vocab, dim])
        words = tf.nn.embedding_lookup(emb, self.question)
        with tf.variable_scope("encoder"):
            self.w = tf.get_variable("w", [dim * 2, dim])
            self.b = tf.get_variable("b", [dim], initializer=tf.zeros_initializer())
            h = tf.zeros([tf.shape(words)[0], dim])
            for t in range(steps):
                h = tf.tanh(tf.matmul(tf.concat([words[:, t], h], 1), self.w) + self.b)
        proj = tf.get_variable("proj", [64, dim])
        regions = tf.tanh(tf.tensordot(self.img, proj, 1))
        self.attention = tf.nn.softmax(tf.reduce_sum(regions * h[:, None], -1))
        glimpse = tf.reduce_sum(self.attention[..., None] * regions, 1)
        out = tf.get_variable("out", [dim * 2, answers])
        self.logits = tf.matmul(tf.concat([glimpse, h], 1), out)
        self.probs = tf.nn.softmax(self.logits)
        self.loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=self.answer, logits=self.logits
            )
        )
        hit = tf.nn.in_top_k(predictions=self.logits, targets=self.answer, k=5)
        self.top5 = tf.reduce_mean(tf.cast(hit, tf.float32))


def validation(n, vocab, answers, steps, seed=21):
    rng = np.random.RandomState(seed)
    for _ in range(n):
        b = 128
        img = rng.randn(b, 49, 64).astype(np.float32)
        yield img, rng.randint(0, vocab, (b, steps)), rng.randint(0, answers, b)


class Evaluator(object):
    def __init__(self, sess, graph):
        self.sess = sess
        self.graph = graph
        self.totals = {"loss": 0.0, "top5": 0.0, "entropy": 0.0, "conf": 0.0}
        self.batches = 0
        self.votes = None

    def add(self, img, question, answer):
        g = self.graph
        feed = {g.img: img, g.question: question, g.answer: answer}
        loss = self.sess.run(g.loss, feed_dict=feed)
        top5 = self.sess.run(g.top5, feed_dict=feed)
        attention = self.sess.run(g.attention, feed_dict=feed)
        probs = self.sess.run(g.probs, feed_dict=feed)
        entropy = -np.sum(attention * np.log(attention + 1e-9), axis=1)
        self.totals["loss"] += loss
        self.totals["top5"] += top5
        self.totals["entropy"] += entropy.mean()
        self.totals["conf"] += probs.max(axis=1).mean()
        count = np.bincount(probs.argmax(axis=1), minlength=probs.shape[1])
        self.votes = count if self.votes is None else self.votes + count
        self.batches += 1

    def report(self):
        means = {k: v / self.batches for k, v in sorted(self.totals.items())}
        return " ".join("%s %.3f" % kv for kv in means.items())


if __name__ == "__main__":
    tf.set_random_seed(1)
    size = dict(vocab=2000, answers=500, steps=14)
    graph = VqaGraph(**size)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        evaluator = Evaluator(sess, graph)
        for batch in validation(400, **size):
            evaluator.add(*batch)
    print("batches", evaluator.batches)
    print(evaluator.report())
