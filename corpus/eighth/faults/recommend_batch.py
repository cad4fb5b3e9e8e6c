"""Nightly job: ten best items for every user from the factors of a matrix factorisation."""
import argparse
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()

p = argparse.ArgumentParser()
p.add_argument("--users", type=int, default=3200)
p.add_argument("--items", type=int, default=60000)
p.add_argument("--rank", type=int, default=32)
p.add_argument("--k", type=int, default=10)
p.add_argument("--batch", type=int, default=64)
args = p.parse_args()


class Recommender(tf.Module):
    def __init__(self, users, items, bias):
        self.users = tf.constant(users)
        self.items = tf.constant(items)
        self.bias = tf.constant(bias)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def best(self, ids):
        u = tf.gather(self.users, ids)
        scores = tf.matmul(u, self.items, transpose_b=True) + self.bias
        order = tf.argsort(scores, axis=-1, direction="DESCENDING")
        top = order[:, :args.k]
        return top, tf.gather(scores, top, batch_dims=1)


rng = np.random.default_rng(8)
rec = Recommender(
    rng.normal(size=(args.users, args.rank)).astype("float32"),
    rng.normal(size=(args.items, args.rank)).astype("float32"),
    rng.normal(size=args.items).astype("float32"))
out = np.empty((args.users, args.k), "int32")
for start in range(0, args.users, args.batch):
    ids = tf.range(start, min(start + args.batch, args.users))
    top, score = rec.best(ids)
    out[start:start + args.batch] = top.numpy()
    if start % 800 == 0:
        print(f"{start:6d} users done, best score so far {float(tf.reduce_max(score)):.2f}")
print("distinct items recommended:", len(np.unique(out)))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
