"""Exact nearest neighbours of many queries in a big table of embeddings: matmul + top_k in blocks."""
import argparse
import time

import numpy as np
import tensorflow as tf


def table(n, d, seed):
    g = tf.random.Generator.from_seed(seed)
    return tf.math.l2_normalize(g.normal((n, d)), axis=1)


@tf.function(input_signature=[tf.TensorSpec((None, None)), tf.TensorSpec((None, None)),
                              tf.TensorSpec([], tf.int32)])
def search_block(queries, base, k):
    """Cosine similarities of one block of queries; both sides already have length one."""
    sim = tf.matmul(queries, base, transpose_b=True)
    return tf.math.top_k(sim, k=k, sorted=True)


def search(queries, base, k, block):
    values, ids = [], []
    for i in range(0, queries.shape[0], block):
        top = search_block(queries[i:i + block], base, k)
        values.append(top.values)
        ids.append(top.indices)
    return tf.concat(values, 0).numpy(), tf.concat(ids, 0).numpy()


def recall(found, wanted):
    return (found == wanted[:, None]).any(1).mean()


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--base", type=int, default=50_000)
    p.add_argument("--queries", type=int, default=10_240)
    p.add_argument("--dim", type=int, default=768)
    p.add_argument("-k", type=int, default=10)
    p.add_argument("--block", type=int, default=512)
    a = p.parse_args()
    t0 = time.time()
    base = table(a.base, a.dim, 1)
    rng = np.random.default_rng(2)
    truth = rng.integers(0, a.base, a.queries)
    noise = tf.random.stateless_normal((a.queries, a.dim), (3, 4)) * 0.08
    queries = tf.math.l2_normalize(tf.gather(base, truth) + noise, axis=1)
    print("tables ready, %.1f s" % (time.time() - t0))
    half = a.queries // 2
    hits = []
    for part, (lo, hi) in enumerate([(0, half), (half, a.queries)]):
        values, ids = search(queries[lo:hi], base, a.k, a.block)
        hits.append(recall(ids, truth[lo:hi]))
        print("part %d: recall@%d %.4f, mean best similarity %.4f, %.1f s"
              % (part, a.k, hits[-1], values[:, 0].mean(), time.time() - t0))
    print("recall %.4f" % np.mean(hits))


if __name__ == "__main__":
    main()
