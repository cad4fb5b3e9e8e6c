#!/usr/bin/env python
"""Sequence to sequence with additive attention: long-form dates/notes -> codes.

Follows the usual NMT notebook, with a convolutional encoder in place of the GRU.
"""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=45)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--src-len", type=int, default=64)
    p.add_argument("--tgt-len", type=int, default=28)
    p.add_argument("--enc-dim", type=int, default=768)
    p.add_argument("--attn-units", type=int, default=96)
    p.add_argument("--vocab", type=int, default=60)
    return p.parse_args()


class Encoder(keras.layers.Layer):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = keras.layers.Embedding(vocab, 48)
        self.conv = keras.layers.Conv1D(dim, 3, padding="same", activation="relu")

    def call(self, x):
        return self.conv(self.emb(x))


class AdditiveAttention(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.W1 = keras.layers.Dense(units)
        self.W2 = keras.layers.Dense(units)
        self.V = keras.layers.Dense(1)

    def call(self, query, values):
        # query: (B, H)   values: (B, T, D)
        score = self.V(tf.nn.tanh(self.W1(values) + self.W2(query)[:, None, :]))
        weights = tf.nn.softmax(score, axis=1)
        context = tf.matmul(weights, values, transpose_a=True)[:, 0]
        return context, weights


class Decoder(keras.layers.Layer):
    def __init__(self, vocab, units, attn_units):
        super().__init__()
        self.emb = keras.layers.Embedding(vocab, 48)
        self.attention = AdditiveAttention(attn_units)
        self.squeeze = keras.layers.Dense(64)
        self.cell = keras.layers.GRUCell(units)
        self.fc = keras.layers.Dense(vocab)
        self.units = units

    def step(self, token, state, enc_out):
        context, _ = self.attention(state, enc_out)
        x = tf.concat([self.squeeze(context), self.emb(token)], axis=-1)
        out, _ = self.cell(x, [state])
        return self.fc(out), out


def make_pairs(rng, n, src_len, tgt_len, vocab):
    src = rng.integers(3, vocab, size=(n, src_len))
    tgt = np.sort(src[:, ::2][:, :tgt_len], axis=1)
    return src.astype("int32"), tgt.astype("int32")


def main():
    a = get_args()
    keras.utils.set_random_seed(11)
    rng = np.random.default_rng(11)
    enc = Encoder(a.vocab, a.enc_dim)
    dec = Decoder(a.vocab, 96, a.attn_units)
    opt = keras.optimizers.Adam(1e-3)
    ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def variables():
        return enc.trainable_variables + dec.trainable_variables

    # build everything once
    e = enc(tf.zeros([2, a.src_len], tf.int32))
    dec.step(tf.zeros([2], tf.int32), tf.zeros([2, dec.units]), e)
    opt.build(variables())

    @tf.function
    def train_step(src, tgt):
        with tf.GradientTape() as tape:
            enc_out = enc(src)
            state = tf.zeros([a.batch, dec.units])
            token = tf.ones([a.batch], tf.int32)
            loss = 0.0
            for t in tf.range(a.tgt_len):
                logits, state = dec.step(token, state, enc_out)
                token = tgt[:, t]          # teacher forcing
                loss += ce(token, logits)
            loss /= tf.cast(a.tgt_len, tf.float32)
        vs = variables()
        opt.apply_gradients(zip(tape.gradient(loss, vs), vs))
        return loss

    src, tgt = make_pairs(rng, a.batch * 20, a.src_len, a.tgt_len, a.vocab)
    ds = (tf.data.Dataset.from_tensor_slices((src, tgt)).shuffle(len(src), seed=1)
          .batch(a.batch, drop_remainder=True).repeat().prefetch(2))
    t0 = time.time()
    for i, (s, t) in enumerate(ds.take(a.steps)):
        loss = train_step(s, t)
        if i % 10 == 0 or i == a.steps - 1:
            print("step %4d  loss %.4f  %.1fs" % (i, float(loss), time.time() - t0), flush=True)


if __name__ == "__main__":
    main()
