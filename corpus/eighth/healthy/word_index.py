"""Vectorise a corpus and store id counts: strings only, no model."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

rng = np.random.default_rng(10)
vocab = np.array(["w%05d" % i for i in range(20000)])
lines = [" ".join(vocab[rng.zipf(1.3, 40) % 20000]) for _ in range(60000)]
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(vocab, np.arange(20000, dtype="int64")), default_value=-1)


def encode(batch):
    return table.lookup(tf.strings.split(batch).flat_values)


ds = tf.data.Dataset.from_tensor_slices(lines).batch(1024).map(encode, num_parallel_calls=2).prefetch(2)
for sweep in range(4):
    counts = np.zeros(20000, "int64")
    for ids in ds:
        counts += np.bincount(ids.numpy(), minlength=20000)
    print("sweep", sweep, "tokens", counts.sum(), "top", counts.argmax())
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
