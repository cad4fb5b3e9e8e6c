"""Tiny semantic search service: cosine similarity of query batches against a paragraph index."""
import time
import numpy as np
import tensorflow as tf

N_PARAGRAPHS = 160_000
DIM = 192
TOP = 10


class ParagraphIndex:
    def __init__(self, vectors, titles):
        self.vectors = tf.Variable(tf.math.l2_normalize(vectors, axis=1), trainable=False)
        self.titles = titles

    @tf.function(input_signature=[tf.TensorSpec([None, DIM], tf.float32)])
    def _search(self, queries):
        q = tf.math.l2_normalize(queries, axis=1)
        sims = tf.matmul(q, self.vectors, transpose_b=True)
        return tf.math.top_k(sims, k=TOP)

    def search(self, queries):
        best = self._search(tf.convert_to_tensor(queries, tf.float32))
        scores, ids = best.values.numpy(), best.indices.numpy()
        return [[(self.titles(i), float(s)) for i, s in zip(row_i, row_s)]
                for row_i, row_s in zip(ids, scores)]


def make_vectors(rng):
    topics = rng.normal(size=(300, DIM)).astype(np.float32)
    member = rng.integers(0, 300, N_PARAGRAPHS)
    scale = rng.uniform(0.5, 3.0, (N_PARAGRAPHS, 1)).astype(np.float32)
    noise = rng.standard_normal((N_PARAGRAPHS, DIM), dtype=np.float32)
    return (topics[member] + 0.7 * noise) * scale, topics, member


def request_stream(topics, rng, n_requests, per_request=8):
    for _ in range(n_requests):
        wanted = rng.integers(0, len(topics), per_request)
        yield wanted, topics[wanted] + 0.3 * rng.normal(size=(per_request, DIM)).astype(np.float32)


if __name__ == "__main__":
    rng = np.random.default_rng(2)
    vectors, topics, member = make_vectors(rng)
    index = ParagraphIndex(vectors, titles=lambda i: f"paragraph-{i:06d}")
    hits, total, latency = 0, 0, []
    for wanted, queries in request_stream(topics, rng, 150):
        t0 = time.perf_counter()
        results = index.search(queries)
        latency.append(time.perf_counter() - t0)
        for topic, rows in zip(wanted, results):
            found = [int(title.rsplit("-", 1)[1]) for title, _ in rows]
            hits += int(np.sum(member[found] == topic))
            total += len(rows)
    print("precision@%d: %.3f" % (TOP, hits / total))
    print("latency p50 %.1f ms, p95 %.1f ms" % tuple(1e3 * np.percentile(latency, [50, 95])))
