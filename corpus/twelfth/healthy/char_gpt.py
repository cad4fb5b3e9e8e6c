#!/usr/bin/env python
"""Tiny decoder-only transformer on a synthetic grammar, own training loop."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def args_():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=50)
    p.add_argument("--batch", type=int, default=24)
    p.add_argument("--ctx", type=int, default=128)
    p.add_argument("--dim", type=int, default=192)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--blocks", type=int, default=4)
    return p.parse_args()


VOCAB = 64


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.qkv = layers.Dense(3 * dim, use_bias=False)
        self.proj = layers.Dense(dim)
        self.up = layers.Dense(4 * dim, activation="gelu")
        self.down = layers.Dense(dim)

    def attend(self, x, mask):
        b, t = tf.shape(x)[0], x.shape[1]
        qkv = tf.reshape(self.qkv(x), [b, t, 3, self.heads, self.hd])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        s = tf.matmul(q, k, transpose_b=True) / self.hd ** 0.5 + mask
        o = tf.matmul(tf.nn.softmax(s), v)
        return self.proj(tf.reshape(tf.transpose(o, [0, 2, 1, 3]), [b, t, self.heads * self.hd]))

    def call(self, x, mask):
        x = x + self.attend(self.n1(x), mask)
        return x + self.down(self.up(self.n2(x)))


class GPT(tf.keras.Model):
    def __init__(self, a):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, a.dim)
        self.pos = layers.Embedding(a.ctx, a.dim)
        self.blocks = [Block(a.dim, a.heads) for _ in range(a.blocks)]
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(VOCAB)
        self.mask = tf.constant(np.triu(np.full((a.ctx, a.ctx), -1e9, "float32"), 1))

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(ids.shape[1]))
        for b in self.blocks:
            x = b(x, self.mask)
        return self.head(self.norm(x))


def corpus(n, seed=0):
    rng = np.random.default_rng(seed)
    nxt = rng.integers(0, VOCAB, (VOCAB, VOCAB, 3))
    choice = rng.integers(0, 3, n)
    out = np.zeros(n, "int32")
    for i in range(2, n):
        out[i] = nxt[out[i - 2], out[i - 1], choice[i]]
    return out


def main():
    a = args_()
    tf.keras.utils.set_random_seed(1)
    text = corpus(60_000)
    ds = (tf.data.Dataset.from_tensor_slices(text).batch(a.ctx + 1, drop_remainder=True)
          .shuffle(1000, seed=2).repeat().batch(a.batch, drop_remainder=True).prefetch(2))
    gpt = GPT(a)
    opt = tf.keras.optimizers.AdamW(1e-3, weight_decay=0.01, global_clipnorm=1.0)
    ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(chunk):
        with tf.GradientTape() as tape:
            loss = ce(chunk[:, 1:], gpt(chunk[:, :-1]))
        opt.apply_gradients(zip(tape.gradient(loss, gpt.trainable_variables), gpt.trainable_variables))
        return loss

    t0 = time.time()
    for i, chunk in enumerate(ds.take(a.steps), 1):
        loss = step(chunk)
        if i % 10 == 0:
            print(f"{i:4d} loss {float(loss):.4f} {time.time() - t0:.1f}s", flush=True)


if __name__ == "__main__":
    main()
