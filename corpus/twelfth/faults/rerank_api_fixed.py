#!/usr/bin/env python3
"""Re-ranking endpoint (stripped of the web framework).

The candidate generator hands over ~60 article ids per user; we order them with the
dot products learnt by the two-tower model and return the top 10.
"""
import statistics
import time

import numpy as np
import tensorflow as tf


def two_towers(n_users, n_items, dim):
    tf.keras.utils.set_random_seed(5)
    user = tf.keras.Input((), dtype="int32", name="user")
    item = tf.keras.Input((), dtype="int32", name="item")
    u = tf.keras.layers.Embedding(n_users, dim, name="users")(user)
    i = tf.keras.layers.Embedding(n_items, dim, name="items")(item)
    bias = tf.keras.layers.Embedding(n_items, 1, name="bias")(item)
    dot = tf.keras.layers.Dot(axes=-1)([u, i])
    return tf.keras.Model([user, item], tf.keras.layers.Add()([dot, bias]))


class Ranker:
    def __init__(self, model, top=10):
        self.model = model
        self.top = top
        self.tables = {n: model.get_layer(n).get_weights()[0] for n in ("users", "items", "bias")}

    def _vectors(self, name):
        return self.tables[name]

    def rank(self, user, candidates):
        u = self._vectors("users")[user]
        v = self._vectors("items")[candidates]
        b = self._vectors("bias")[candidates, 0]
        scores = v @ u + b
        order = np.argsort(-scores, kind="stable")[: self.top]
        return candidates[order], scores[order]


class RequestLog:
    def __init__(self, n_users, n_items, n, seed):
        rng = np.random.default_rng(seed)
        self.users = rng.integers(0, n_users, n)
        pop = rng.zipf(1.3, size=(n, 60)) * 7919
        self.items = (pop + rng.integers(0, 5000, size=(n, 60))) % n_items

    def __iter__(self):
        return iter(zip(self.users, self.items))


def serve(ranker, log, report=300):
    latency, checksum = [], 0.0
    for k, (user, candidates) in enumerate(log, 1):
        t = time.perf_counter()
        items, scores = ranker.rank(int(user), candidates)
        latency.append(1e3 * (time.perf_counter() - t))
        checksum += float(scores[0])
        if k % report == 0:
            print(f"{k} requests, median {statistics.median(latency):.2f} ms, "
                  f"best item {items[0]}", flush=True)
    return checksum


if __name__ == "__main__":
    N_USERS, N_ITEMS, DIM, REQUESTS = 80_000, 150_000, 96, 1500
    ranker = Ranker(two_towers(N_USERS, N_ITEMS, DIM))
    total = serve(ranker, RequestLog(N_USERS, N_ITEMS, REQUESTS, seed=3))
    print("checksum %.5f" % total)
