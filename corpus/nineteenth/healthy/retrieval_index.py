"""Batch recommendation: all users against an index of item vectors."""
import numpy as np
import tensorflow as tf


class BruteForceIndex(tf.Module):
    def __init__(self, items, k):
        super().__init__()
        self.items = tf.Variable(items, trainable=False)
        self.k = k

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.float32), tf.TensorSpec((None, None), tf.int32)])
    def query(self, users, seen):
        scores = tf.matmul(users, self.items, transpose_b=True)
        rows = tf.repeat(tf.range(tf.shape(seen)[0])[:, None], tf.shape(seen)[1], axis=1)
        where = tf.stack([rows, seen], axis=-1)
        scores = tf.tensor_scatter_nd_update(scores, where, tf.fill(tf.shape(seen), -1e9))
        return tf.math.top_k(scores, self.k)


class ItemTower(tf.Module):
    def __init__(self, dim, seed):
        super().__init__()
        rng = np.random.RandomState(seed)
        self.w = tf.Variable(rng.randn(100, dim) / 10.0, dtype=tf.float32)

    def __call__(self, features):
        return tf.math.l2_normalize(tf.matmul(features, self.w), 1)


def user_batches(n_users, dim, n_items, size=250):
    rng = np.random.RandomState(9)
    for start in range(0, n_users, size):
        n = min(size, n_users - start)
        yield rng.randn(n, dim).astype(np.float32), rng.randint(0, n_items, (n, 30)).astype(np.int32)


def main():
    n_items, dim = 40000, 96
    features = np.random.RandomState(1).randn(n_items, 100).astype(np.float32)
    items = ItemTower(dim, seed=2)(tf.constant(features))
    index = BruteForceIndex(items, k=50)
    counts = np.zeros(n_items, int)
    total = 0.0
    for users, seen in user_batches(4000, dim, n_items):
        scores, ids = index.query(users, seen)
        np.add.at(counts, ids.numpy().ravel(), 1)
        total += float(tf.reduce_sum(scores[:, 0]))
    print("coverage %.3f" % np.mean(counts > 0))
    print("mean best score %.4f" % (total / 4000))


if __name__ == "__main__":
    main()
