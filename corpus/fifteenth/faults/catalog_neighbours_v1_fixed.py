"""Nearest catalogue items for each shopper (legacy TF1 code on TF 2 via compat.v1)."""
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

ITEMS = 40_000
DIM = 64
SHOPPERS = 122
HISTORY = 12
TOP = 10


def load_catalogue(rng):
    vectors = rng.normal(size=(ITEMS, DIM)).astype("float32")
    popularity = rng.gamma(2.0, 1.0, ITEMS).astype("float32")
    return vectors, popularity


def load_histories(rng):
    return [rng.integers(0, ITEMS, HISTORY) for _ in range(SHOPPERS)]


class Recommender(object):
    def __init__(self, vectors, popularity):
        self.items = tf.get_variable("items", shape=vectors.shape, dtype=tf.float32)
        self.popularity = tf.get_variable("popularity", shape=popularity.shape, dtype=tf.float32)
        self.items_in = tf.placeholder(tf.float32, vectors.shape)
        self.pop_in = tf.placeholder(tf.float32, popularity.shape)
        self.load = tf.group(self.items.assign(self.items_in),
                             self.popularity.assign(self.pop_in))
        self.history = tf.placeholder(tf.int32, [None], name="history")
        scores = self.score_op()
        mask = tf.scatter_nd(self.history[:, None], tf.ones_like(self.history, tf.float32), [ITEMS])
        self.top = tf.nn.top_k(scores - 10.0 * tf.minimum(mask, 1.0), TOP)
        self.session = tf.Session()
        self.session.run(self.load, {self.items_in: vectors, self.pop_in: popularity})

    def score_op(self):
        unit = tf.nn.l2_normalize(self.items, axis=1)
        seen = tf.gather(unit, self.history)
        age = tf.cast(tf.range(tf.shape(seen)[0]), tf.float32)
        weight = tf.nn.softmax(age / 4.0)
        profile = tf.nn.l2_normalize(tf.reduce_sum(seen * weight[:, None], axis=0), axis=0)
        similarity = tf.linalg.matvec(unit, profile)
        return similarity + 0.01 * tf.log1p(self.popularity)

    def top_items(self, history):
        return self.session.run([self.top.values, self.top.indices], {self.history: history})

    def close(self):
        self.session.close()


def main():
    rng = np.random.default_rng(17)
    vectors, popularity = load_catalogue(rng)
    histories = load_histories(rng)
    rec = Recommender(vectors, popularity)
    chosen = np.zeros(ITEMS, dtype=int)
    total = 0.0
    for history in histories:
        values, indices = rec.top_items(history)
        chosen[indices] += 1
        total += float(values.sum())
    rec.close()
    print("shoppers", len(histories), "mean score %.5f" % (total / (SHOPPERS * TOP)))
    print("distinct items recommended", int((chosen > 0).sum()), "max repeats", int(chosen.max()))


if __name__ == "__main__":
    main()
