"""Per-chunk retrieval scores for a stored embedding set."""
import os
import tempfile

import numpy as np
import tensorflow as tf

FEATURES = {
    "ident": tf.io.FixedLenFeature([], tf.int64),
    "vector": tf.io.FixedLenFeature([], tf.string),
    "group": tf.io.FixedLenFeature([], tf.int64),
}


def write_records(path, n, dim, groups, seed=5):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(groups, dim))
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(n):
            g = int(rng.integers(groups))
            v = (centers[g] + rng.normal(0, 1.2, dim)).astype(np.float32)
            feature = {
                "ident": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "vector": tf.train.Feature(bytes_list=tf.train.BytesList(value=[v.tobytes()])),
                "group": tf.train.Feature(int64_list=tf.train.Int64List(value=[g])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


def parse(record):
    ex = tf.io.parse_single_example(record, FEATURES)
    vec = tf.math.l2_normalize(tf.io.decode_raw(ex["vector"], tf.float32))
    return vec, ex["group"]


class ChunkedEvaluator:
    def __init__(self, dataset, total, chunk):
        self.dataset = dataset
        self.total = total
        self.chunk = chunk

    def chunks(self):
        yield from self.dataset.take(self.total).batch(self.chunk)

    def run(self, ks=(1, 5)):
        hits = {k: [] for k in ks}
        for vectors, groups in self.chunks():
            for k, value in score(vectors, groups, ks).items():
                hits[k].append(value)
        return {k: float(np.mean(v)) for k, v in hits.items()}, len(hits[ks[0]])


@tf.function(reduce_retracing=True)
def neighbours(vectors, k):
    sims = tf.matmul(vectors, vectors, transpose_b=True)
    sims = tf.linalg.set_diag(sims, tf.fill([tf.shape(sims)[0]], -2.0))
    return tf.math.top_k(sims, k).indices


def score(vectors, groups, ks):
    top = neighbours(vectors, tf.constant(max(ks)))
    same = tf.gather(groups, top) == groups[:, None]
    return {k: float(tf.reduce_mean(tf.cast(tf.reduce_any(same[:, :k], 1), tf.float32))) for k in ks}


def main(total=5000, chunk=100):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vectors.tfrecord")
        write_records(path, total, dim=64, groups=40)
        dataset = tf.data.TFRecordDataset(path).map(parse)
        result, n = ChunkedEvaluator(dataset, total, chunk).run()
    print("chunks", n)
    for k, v in result.items():
        print("recall@%d %.4f" % (k, v))


if __name__ == "__main__":
    main()
