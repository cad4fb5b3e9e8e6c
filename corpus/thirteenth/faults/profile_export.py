"""Nightly export of customer profile vectors.

1. run the encoder over all customers
2. write the vectors to disk for the matching job
3. matching job: read them back, find for some customers the closest others
"""
import argparse
import json
import os
import tempfile
import time

import numpy as np
import tensorflow as tf


def customers(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 64)).astype("float32")
    x[:, :8] = np.abs(x[:, :8]) * 10
    return np.arange(100_000, 100_000 + n), x


def encoder(dim):
    init = tf.keras.initializers.GlorotUniform
    return tf.keras.Sequential([
        tf.keras.Input((64,)),
        tf.keras.layers.Dense(512, activation="gelu", kernel_initializer=init(1)),
        tf.keras.layers.Dense(512, activation="gelu", kernel_initializer=init(2)),
        tf.keras.layers.Dense(dim, kernel_initializer=init(3)),
        tf.keras.layers.UnitNormalization(),
    ])


class Writer:
    def __init__(self, folder):
        self.path = os.path.join(folder, "profiles.jsonl")

    def write(self, ids, vectors):
        with open(self.path, "w") as f:
            for i, v in zip(ids, vectors):
                f.write(json.dumps({"customer": int(i), "vector": [float(c) for c in v]}) + "\n")
        return os.path.getsize(self.path)

    def read(self):
        ids, vectors = [], []
        with open(self.path) as f:
            for line in f:
                rec = json.loads(line)
                ids.append(rec["customer"])
                vectors.append(rec["vector"])
        return np.array(ids), np.array(vectors, dtype="float32")


@tf.function
def closest(queries, vectors):
    sims = tf.matmul(queries, vectors, transpose_b=True)
    return tf.math.top_k(sims, 6)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--customers", type=int, default=56_000)
    ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--queries", type=int, default=512)
    args = ap.parse_args()
    t0 = time.time()

    ids, x = customers(args.customers, 0)
    model = encoder(args.dim)
    vectors = model.predict(x, batch_size=1024, verbose=0)
    print(f"[{time.time() - t0:5.1f}s] encoded {vectors.shape}")

    with tempfile.TemporaryDirectory() as folder:
        w = Writer(folder)
        size = w.write(ids, vectors)
        print(f"[{time.time() - t0:5.1f}s] wrote {size / 1e6:.0f} MB")
        ids2, vec2 = w.read()
        print(f"[{time.time() - t0:5.1f}s] read back {vec2.shape}, equal: {np.array_equal(vectors, vec2)}")

    pick = np.random.default_rng(3).choice(len(ids2), args.queries, replace=False)
    best = []
    for block in np.array_split(pick, 8):
        scores, idx = closest(tf.constant(vec2[block]), tf.constant(vec2))
        best.append(ids2[idx.numpy()[:, 1]])
    best = np.concatenate(best)
    print(f"[{time.time() - t0:5.1f}s] matched; checksum {int(best.sum())}")


if __name__ == "__main__":
    main()
