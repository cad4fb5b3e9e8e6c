"""Turns raw service log lines into hashed token ids and counts them, shard by shard."""
import os
import random
import re
import tempfile

import numpy as np
import tensorflow as tf

BUCKETS = 2048
LINES = 90000
SERVICES = ["auth", "cart", "search", "mail", "edge"]
EVENTS = ["GET /v1/items/{n} took {n}ms", "user {n} Logged In from 10.0.{n}.{n}",
          "retry {n} of job {h}", "cache MISS for key {h}", "payload {n} bytes, Checksum {h}"]


def write_logs(folder):
    r = random.Random(9)
    paths = []
    for s in range(3):
        path = os.path.join(folder, f"shard{s}.log")
        with open(path, "w") as f:
            for _ in range(LINES // 3):
                text = r.choice(EVENTS)
                text = text.replace("{n}", str(r.randrange(250)))
                text = text.replace("{h}", "%08x" % r.getrandbits(32))
                f.write(f"2024-03-{r.randrange(1, 29):02d} {r.choice(SERVICES)}  {text}\n")
        paths.append(path)
    return paths


def clean(line):
    text = line.numpy().decode("utf-8").lower()
    text = re.sub(r"\b[0-9a-f]{8}\b", "<hex>", text)
    text = re.sub(r"[0-9]+", "<num>", text)
    text = re.sub(r"[^a-z<>]+", " ", text)
    return text.strip()


def clean_line(line):
    text = tf.py_function(clean, [line], tf.string)
    text.set_shape([])
    return text


def to_ids(texts):
    tokens = tf.strings.split(texts, " ")
    return tf.strings.to_hash_bucket_fast(tokens.flat_values, BUCKETS)


def pipeline(paths):
    ds = tf.data.TextLineDataset(paths)
    ds = ds.map(clean_line, num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.batch(256)
    ds = ds.map(to_ids, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = write_logs(folder)
        counts = np.zeros(BUCKETS, np.int64)
        for ids in pipeline(paths):
            counts += np.bincount(ids.numpy(), minlength=BUCKETS)
    print("tokens:", counts.sum(), "buckets in use:", (counts > 0).sum())
    for b in np.argsort(-counts, kind="stable")[:8]:
        print(f"  bucket {b:4d}: {counts[b]}")


if __name__ == "__main__":
    main()
