"""Scores the lines of one file with a bag-of-ngrams model and leaves."""
import argparse
import json
import os
import tempfile

import numpy as np
import tensorflow as tf


class Scorer(tf.Module):
    def __init__(self, buckets, dim, seed):
        super().__init__()
        init = tf.random.stateless_normal([buckets, dim], seed=[seed, 1], stddev=0.3)
        self.table = tf.Variable(init)
        self.head = tf.Variable(tf.random.stateless_normal([dim, 3], seed=[seed, 2]))
        self.buckets = buckets

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def score(self, lines):
        clean = tf.strings.regex_replace(tf.strings.lower(lines), r"[^a-z ]", "")
        words = tf.strings.split(clean)
        grams = tf.strings.ngrams(words, [1, 2])
        ids = tf.strings.to_hash_bucket_fast(grams, self.buckets)
        vectors = tf.gather(self.table, ids)
        pooled = tf.reduce_mean(vectors, axis=1)
        pooled = tf.where(tf.math.is_nan(pooled), 0.0, pooled)
        return tf.nn.softmax(pooled @ self.head)


def sample_file(path, n=400):
    rng = np.random.default_rng(1)
    words = "you are great awful the best worst thing ever seen please stop now".split()
    with open(path, "w") as f:
        for _ in range(n):
            f.write(" ".join(rng.choice(words, rng.integers(3, 12))) + "!\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", nargs="?")
    parser.add_argument("--buckets", type=int, default=20000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.file
        if path is None:
            path = os.path.join(folder, "comments.txt")
            sample_file(path)
        with open(path) as f:
            lines = [line.strip() for line in f if line.strip()]
    scorer = Scorer(args.buckets, 32, 7)
    probs = scorer.score(tf.constant(lines)).numpy()
    labels = np.array(["ok", "review", "block"])[probs.argmax(1)]
    counts = {k: int((labels == k).sum()) for k in ("ok", "review", "block")}
    print(json.dumps(counts, sort_keys=True))
    print("sharpest %.3f" % probs.max())


if __name__ == "__main__":
    main()
