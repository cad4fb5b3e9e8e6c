"""Offline evaluation of a two-tower retrieval model: hit rate and MRR per user."""
import collections

import numpy as np
import tensorflow as tf

Catalog = collections.namedtuple("Catalog", "item_id category price_bucket description")


class Tower(tf.keras.layers.Layer):
    def __init__(self, vocab_sizes, dim, **kwargs):
        super().__init__(**kwargs)
        self.embeddings_ = [tf.keras.layers.Embedding(v, dim) for v in vocab_sizes]
        self.hidden = tf.keras.layers.Dense(128, activation="relu")
        self.out = tf.keras.layers.Dense(dim)

    def call(self, ids, dense=None):
        parts = [emb(ids[:, i]) for i, emb in enumerate(self.embeddings_)]
        if dense is not None:
            parts.append(dense)
        return tf.math.l2_normalize(self.out(self.hidden(tf.concat(parts, 1))), axis=1)


class TwoTower(tf.keras.Model):
    def __init__(self, n_users, n_items, dim=32):
        super().__init__()
        self.user_tower = Tower([n_users, 10], dim)
        self.item_tower = Tower([n_items, 25, 8], dim)

    @tf.function(reduce_retracing=True)
    def embed_users(self, ids):
        return self.user_tower(ids)

    @tf.function(reduce_retracing=True)
    def embed_items(self, ids, dense):
        return self.item_tower(ids, dense)

    def call(self, inputs):
        users, items, dense = inputs
        return tf.reduce_sum(self.embed_users(users) * self.embed_items(items, dense), 1)


class TopKEvaluator:
    def __init__(self, model, catalog, k=20):
        self.model, self.catalog, self.k = model, catalog, k
        self.items = self.item_matrix()

    def item_matrix(self, batch_size=1024):
        c = self.catalog
        ids = np.stack([c.item_id, c.category, c.price_bucket], 1).astype(np.int32)
        out = [self.model.embed_items(tf.constant(ids[i:i + batch_size]), tf.constant(c.description[i:i + batch_size]))
               for i in range(0, len(ids), batch_size)]
        return tf.concat(out, 0)

    def rank(self, user, seen):
        query = self.model.embed_users(tf.constant([user], tf.int32))
        scores = tf.linalg.matvec(self.items, query[0]).numpy()
        scores[seen] = -np.inf
        top = np.argpartition(-scores, self.k)[:self.k]
        return top[np.argsort(-scores[top])]

    def evaluate(self, users, history, held_out):
        hits, mrr = 0, 0.0
        for u in users:
            ranked = self.rank((u, u % 10), history[u])
            where = np.flatnonzero(np.isin(ranked, held_out[u]))
            hits += len(where) > 0
            mrr += 1.0 / (where[0] + 1) if len(where) else 0.0
        return hits / len(users), mrr / len(users)


def main():
    tf.keras.utils.set_random_seed(5)
    rng = np.random.RandomState(5)
    n_users, n_items = 300, 8192
    catalog = Catalog(np.arange(n_items), rng.randint(0, 25, n_items), rng.randint(0, 8, n_items),
                      rng.randn(n_items, 48).astype(np.float32))
    model = TwoTower(n_users, n_items)
    history = {u: rng.choice(n_items, 40, replace=False) for u in range(n_users)}
    held_out = {u: rng.choice(n_items, 60, replace=False) for u in range(n_users)}
    hit, mrr = TopKEvaluator(model, catalog).evaluate(list(range(0, n_users, 2)), history, held_out)
    print("hit rate@20 %.3f  mrr %.4f" % (hit, mrr))


if __name__ == "__main__":
    main()
