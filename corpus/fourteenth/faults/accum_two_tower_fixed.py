"""Matrix-factorisation recommender with gradient accumulation.

Effective batch 8192 = 32 micro-batches of 256. BPR loss, momentum SGD.
"""
import argparse
import time

import numpy as np
import tensorflow as tf


def parse():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--users", type=int, default=300_000)
    ap.add_argument("--items", type=int, default=500_000)
    ap.add_argument("--dim", type=int, default=32)
    ap.add_argument("--micro", type=int, default=256)
    ap.add_argument("--accumulate", type=int, default=32)
    ap.add_argument("--updates", type=int, default=9)
    ap.add_argument("--lr", type=float, default=4.0)
    return ap.parse_args()


class Recommender(tf.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        g = tf.random.Generator.from_seed(1)
        self.user = tf.Variable(g.normal((n_users, dim), stddev=0.1), name="user")
        self.item = tf.Variable(g.normal((n_items, dim), stddev=0.1), name="item")
        self.mix = tf.Variable(tf.eye(dim), name="mix")

    def score(self, u, i):
        eu = tf.gather(self.user, u) @ self.mix
        return tf.reduce_sum(eu * tf.gather(self.item, i), axis=-1)

    def bpr(self, u, pos, neg):
        return tf.reduce_mean(tf.nn.softplus(self.score(u, neg) - self.score(u, pos)))


class AccumulatingTrainer:
    def __init__(self, model, lr, accumulate, momentum=0.9):
        self.model, self.lr, self.n, self.mu = model, lr, accumulate, momentum
        self.vars = list(model.trainable_variables)
        self.sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.vars]
        self.vel = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.vars]

    @tf.function
    def micro_step(self, u, pos, neg):
        with tf.GradientTape() as tape:
            loss = self.model.bpr(u, pos, neg)
        grads = tape.gradient(loss, self.vars)
        for total, g in zip(self.sums, grads):
            if isinstance(g, tf.IndexedSlices):
                total.scatter_add(g)          # only the rows this micro-batch looked up
            else:
                total.assign_add(g)
        return loss

    @tf.function
    def apply(self):
        for v, s, m in zip(self.vars, self.sums, self.vel):
            m.assign(self.mu * m + s / self.n)
            v.assign_sub(self.lr * m)
            s.assign(tf.zeros_like(s))


def interactions(a, n, seed=3):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, a.users, n)
    liked = (u * 7 + rng.integers(0, 40, n)) % a.items
    other = rng.integers(0, a.items, n)
    return [tf.constant(z.astype(np.int32)) for z in (u, liked, other)]


def main():
    a = parse()
    n = a.micro * a.accumulate * a.updates
    data = interactions(a, n)
    ds = tf.data.Dataset.from_tensor_slices(tuple(data)).batch(a.micro).prefetch(8)
    model = Recommender(a.users, a.items, a.dim)
    trainer = AccumulatingTrainer(model, a.lr, a.accumulate)
    start, running = time.perf_counter(), []
    for k, (u, pos, neg) in enumerate(ds, 1):
        running.append(trainer.micro_step(u, pos, neg))
        if k % a.accumulate == 0:
            trainer.apply()
            upd = k // a.accumulate
            if upd % 4 == 0 or upd == a.updates:
                print("update %3d  bpr %.5f  %.1f s" % (
                    upd, np.mean([r.numpy() for r in running]), time.perf_counter() - start))
            running.clear()
    print("norm of user table: %.4f" % float(tf.norm(model.user)))


if __name__ == "__main__":
    main()
