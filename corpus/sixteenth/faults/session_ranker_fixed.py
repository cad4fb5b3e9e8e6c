# Nightly "similar products" list. Written for TF 1, kept alive with tf.compat.v1.
import collections
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_eager_execution()

N_ITEMS = 3000
DIM = 48
K = 10
N_QUERIES = 320


def make_catalogue(seed):
    rng = np.random.RandomState(seed)
    centres = rng.randn(40, DIM)
    group = rng.randint(0, 40, size=N_ITEMS)
    vectors = centres[group] + 0.8 * rng.randn(N_ITEMS, DIM)
    popularity = rng.gamma(2.0, 1.0, size=N_ITEMS)
    return vectors.astype(np.float32), popularity.astype(np.float32), group


class Ranker(object):
    def __init__(self, vectors, popularity):
        self.graph = tf1.Graph()
        with self.graph.as_default():
            self.items = tf1.get_variable("items", initializer=vectors)
            self.popularity = tf1.get_variable("popularity", initializer=popularity)
            self.normed = tf.nn.l2_normalize(self.items, axis=1)
            init = tf1.global_variables_initializer()
            self.sess = tf1.Session(graph=self.graph)
            self.sess.run(init)
            self.unit_items = self.sess.run(self.normed)
            self.table = tf1.get_variable("table", initializer=self.unit_items)
            self.sess.run(self.table.initializer)
            self.vector = tf1.placeholder(tf.float32, [DIM])
            self.top = tf.nn.top_k(self.scores(self.vector), k=K + 1)

    def scores(self, vector):
        q = tf.nn.l2_normalize(vector, axis=0)
        s = tf.linalg.matvec(self.table, q)
        return s + 0.05 * tf.math.log1p(self.popularity)

    def similar(self, vector, own):
        values, ids = self.sess.run([self.top.values, self.top.indices], {self.vector: vector})
        keep = ids != own
        return ids[keep][:K], values[keep][:K]


def main():
    vectors, popularity, group = make_catalogue(4)
    ranker = Ranker(vectors, popularity)
    shown = collections.Counter()
    same_group = 0
    score_sum = 0.0
    for own in range(N_QUERIES):
        ids, values = ranker.similar(vectors[own], own)
        shown.update(ids.tolist())
        same_group += int((group[ids] == group[own]).sum())
        score_sum += float(values.sum())
    print("queries %d, lists share the group in %.1f%% of places" %
          (N_QUERIES, 100.0 * same_group / (N_QUERIES * K)))
    print("mean score %.4f, distinct products shown %d" % (score_sum / (N_QUERIES * K), len(shown)))
    print("most shown:", [i for i, _ in shown.most_common(5)])


if __name__ == "__main__":
    main()
