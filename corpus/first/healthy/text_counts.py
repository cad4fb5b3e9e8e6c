"""Token statistics of text shards with a vectorised tf.data pipeline."""
import os
import tempfile

import numpy as np
import tensorflow as tf

VOCAB = 2000


def write_text(folder, shards=8, lines=320_000):
    rng = np.random.default_rng(4)
    words = np.array(["w%d" % i for i in range(VOCAB)])
    names = []
    for s in range(shards):
        pick = words[np.minimum(rng.zipf(1.3, size=(2000, 14)) - 1, VOCAB - 1)]
        block = [" ".join(r) for r in pick]
        name = os.path.join(folder, f"shard{s}.txt")
        with open(name, "w") as f:
            f.write("\n".join(block * (lines // 2000)) + "\n")
        names.append(name)
    return names


def main():
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(["w%d" % i for i in range(VOCAB)], tf.range(VOCAB)), -1)

    def count(lines):
        tokens = tf.strings.split(tf.strings.lower(lines)).flat_values
        ids = table.lookup(tokens)
        return tf.math.bincount(ids, minlength=VOCAB, maxlength=VOCAB)

    with tempfile.TemporaryDirectory() as folder:
        ds = tf.data.TextLineDataset(write_text(folder), buffer_size=1 << 20)
        ds = ds.batch(4096).map(count, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
        total = ds.prefetch(tf.data.AUTOTUNE).reduce(tf.zeros([VOCAB], tf.int32), lambda a, b: a + b)
    total = total.numpy()
    p = total[total > 0] / total.sum()
    print("tokens", total.sum(), "entropy %.4f bits" % -(p * np.log2(p)).sum())


if __name__ == "__main__":
    main()
