"""
Ranking service for a web shop: given the session of a user (the last 40 articles
looked at), score a few hundred candidate articles and return the ten best.

The scoring graph is compiled with tf.function and has a fixed input signature.
This file replays a log of requests and prints the latency.
"""
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Config:
    n_items: int = 20_000
    session: int = 40
    candidates: int = 400
    dim: int = 48
    requests: int = 220
    top: int = 10


def session_encoder(cfg):
    s = keras.Input((cfg.session, cfg.dim))
    x = s
    for i in range(2):
        att = layers.MultiHeadAttention(4, cfg.dim // 4, name=f"att{i}")(x, x)
        x = layers.LayerNormalization()(x + att)
        ff = layers.Dense(cfg.dim, name=f"ff{i}_b")(
            layers.Dense(2 * cfg.dim, activation="relu", name=f"ff{i}_a")(x))
        x = layers.LayerNormalization()(x + ff)
    return keras.Model(s, layers.GlobalAveragePooling1D()(x), name="session_encoder")


def scorer(cfg):
    u = keras.Input((cfg.dim,))
    c = keras.Input((cfg.dim,))
    x = layers.Concatenate()([u, c, layers.Multiply()([u, c])])
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model([u, c], layers.Dense(1)(x), name="scorer")


class Ranker(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.items = tf.Variable(
            tf.random.stateless_normal((cfg.n_items, cfg.dim), seed=(1, 2)), trainable=False)
        self.encoder = session_encoder(cfg)
        self.scorer = scorer(cfg)

    @tf.function(input_signature=[tf.TensorSpec((None,), tf.int32), tf.TensorSpec((None,), tf.int32)])
    def rank(self, session, candidates):
        n = tf.shape(candidates)[0]
        seen = tf.gather(self.items, session)
        # one session: encode it once, repeat only the short vector
        user = self.encoder(seen[None], training=False)
        user = tf.tile(user, (n, 1))
        cand = tf.gather(self.items, candidates)
        score = tf.squeeze(self.scorer([user, cand], training=False), -1)
        best = tf.math.top_k(score, k=self.cfg.top)
        return tf.gather(candidates, best.indices), best.values


def request_log(cfg, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(cfg.requests):
        start = rng.integers(0, cfg.n_items)
        session = (start + rng.integers(0, 300, cfg.session)) % cfg.n_items
        cand = rng.choice(cfg.n_items, cfg.candidates, replace=False)
        yield session.astype(np.int32), cand.astype(np.int32)


def main():
    keras.utils.set_random_seed(21)
    cfg = Config()
    ranker = Ranker(cfg)
    times, check = [], 0.0
    for k, (session, cand) in enumerate(request_log(cfg)):
        t = time.perf_counter()
        ids, values = ranker.rank(session, cand)
        answer = list(zip(ids.numpy().tolist(), values.numpy().tolist()))
        times.append(time.perf_counter() - t)
        check += answer[0][1]
        if k % 60 == 0:
            print("request %3d: best article %5d (%.4f), %.1f ms"
                  % (k, answer[0][0], answer[0][1], 1e3 * times[-1]))
    lat = np.array(times[1:]) * 1e3
    print("p50 %.1f ms, p95 %.1f ms, sum of best scores %.4f"
          % (np.percentile(lat, 50), np.percentile(lat, 95), check))


if __name__ == "__main__":
    main()
