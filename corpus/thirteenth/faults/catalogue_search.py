"""Nearest products for a stream of query embeddings (stand-in for our search service)."""
import time
import numpy as np
import tensorflow as tf


class Catalogue:
    def __init__(self, n_items, dim, seed=0):
        rng = np.random.default_rng(seed)
        vecs = rng.standard_normal((n_items, dim), dtype=np.float32)
        vecs /= np.linalg.norm(vecs, axis=1, keepdims=True)
        self.items = tf.Variable(vecs, trainable=False, name="items")
        self.price = tf.Variable(rng.gamma(2.0, 20.0, n_items).astype("float32"), trainable=False)

    @tf.function(reduce_retracing=True)
    def neighbours(self, queries, k):
        queries = tf.math.l2_normalize(queries, axis=1)
        sims = tf.matmul(queries, self.items, transpose_b=True)
        order = tf.argsort(sims, axis=1, direction="DESCENDING")
        ids = order[:, :k]
        scores = tf.gather(sims, ids, batch_dims=1)
        return ids, scores

    @tf.function
    def price_band(self, ids):
        p = tf.gather(self.price, ids)
        return tf.reduce_min(p, axis=1), tf.reduce_mean(p, axis=1), tf.reduce_max(p, axis=1)


class QueryTower(tf.Module):
    """Two dense layers, weights as they came from training."""

    def __init__(self, dim_in, dim_out, seed=1):
        rng = np.random.default_rng(seed)
        self.w1 = tf.Variable(rng.normal(0, 0.05, (dim_in, 512)).astype("float32"))
        self.w2 = tf.Variable(rng.normal(0, 0.05, (512, dim_out)).astype("float32"))

    @tf.function
    def __call__(self, x):
        return tf.matmul(tf.nn.gelu(tf.matmul(x, self.w1)), self.w2)


def request_stream(batches, batch, dim, seed=2):
    rng = np.random.default_rng(seed)
    for _ in range(batches):
        yield rng.standard_normal((batch, dim), dtype=np.float32)


def serve(batches=40, batch=32, n_items=200_000, dim=64, k=20):
    cat = Catalogue(n_items, dim)
    tower = QueryTower(300, dim)
    k_t = tf.constant(k)
    checksum = 0
    lat = []
    for i, req in enumerate(request_stream(batches, batch, 300)):
        t = time.perf_counter()
        q = tower(tf.constant(req))
        ids, scores = cat.neighbours(q, k_t)
        lo, mean, hi = cat.price_band(ids)
        lat.append(time.perf_counter() - t)
        checksum = (checksum * 31 + int(ids.numpy()[:, 0].sum())) % 1_000_003
        if i % 10 == 0:
            print(f"batch {i}: best score {scores.numpy()[:, 0].mean():.4f}, "
                  f"price {lo.numpy().mean():.1f}..{hi.numpy().mean():.1f}, {lat[-1] * 1e3:.0f} ms")
    print("checksum", checksum)
    print(f"median latency {1e3 * np.median(lat):.0f} ms per batch of {batch}")


if __name__ == "__main__":
    serve()
