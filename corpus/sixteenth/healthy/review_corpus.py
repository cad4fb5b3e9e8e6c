"""Vocabulary, TF-IDF weights and near neighbours of a corpus of short reviews."""
import os
import tempfile

import numpy as np
import tensorflow as tf

N_REVIEWS = 260000
VOCAB = 2000


def write_corpus(path):
    rng = np.random.default_rng(7)
    words = np.array(["w" + format(i, "x") for i in range(6000)])
    p = 1.0 / (np.arange(6000) + 10.0)
    p /= p.sum()
    lengths = rng.integers(20, 60, size=N_REVIEWS)
    tokens = words[rng.choice(6000, size=lengths.sum(), p=p)]
    ends = np.cumsum(lengths)
    with open(path, "w") as f:
        for a, b in zip(ends - lengths, ends):
            f.write(" ".join(tokens[a:b]) + ".\n")


def main():
    path = os.path.join(tempfile.mkdtemp(), "reviews.txt")
    write_corpus(path)
    lines = tf.data.TextLineDataset(path).batch(1024)

    vectorize = tf.keras.layers.TextVectorization(max_tokens=VOCAB, output_mode="int",
                                                  output_sequence_length=60)
    vectorize.adapt(lines)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def counts(batch):
        ids = vectorize(batch)
        c = tf.math.bincount(ids, minlength=VOCAB, maxlength=VOCAB, axis=-1, dtype=tf.float32)
        return c * tf.cast(tf.range(VOCAB) > 1, tf.float32)   # without padding and unknown words

    bags = lines.map(counts, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

    document_freq = np.zeros(VOCAB, "float64")
    blocks = []
    for c in bags:
        c = c.numpy()
        document_freq += (c > 0).sum(axis=0)
        blocks.append(c.astype("uint8"))
    idf = np.log((1 + N_REVIEWS) / (1 + document_freq)).astype("float32") + 1.0

    @tf.function(reduce_retracing=True)
    def best_match(queries, block):
        block = tf.math.l2_normalize(tf.cast(block, tf.float32) * idf, axis=1)
        return tf.reduce_max(tf.matmul(queries, block, transpose_b=True), axis=1)

    queries = tf.math.l2_normalize(tf.constant(blocks[0][:256].astype("float32")) * idf, axis=1)
    best = np.full(256, -1.0, "float32")
    for block in blocks[1:]:
        best = np.maximum(best, best_match(queries, tf.constant(block)).numpy())
    print("vocabulary", len(vectorize.get_vocabulary()), "mean document frequency",
          round(float(document_freq.mean()), 1))
    print("mean best cosine of", len(best), "reviews:", round(float(best.mean()), 4))


if __name__ == "__main__":
    main()
