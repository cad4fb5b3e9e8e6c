"""Small causal transformer on a synthetic bracket language; custom compiled loop."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SYMBOLS = "()[]{}abcdefgh \n"


def corpus(n, rng):
    pairs, out, stack = {"(": ")", "[": "]", "{": "}"}, [], []
    draws, kinds = rng.random(n), rng.integers(0, 1000, n)
    for u, k in zip(draws, kinds):
        if u < 0.25 and len(stack) < 12:
            stack.append("([{"[k % 3])
            out.append(stack[-1])
        elif u < 0.5 and stack:
            out.append(pairs[stack.pop()])
        else:
            out.append("abcdefgh \n"[k % 10])
    table = {c: i for i, c in enumerate(SYMBOLS)}
    return np.array([table[c] for c in out], "int32")


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ff1, self.ff2 = layers.Dense(4 * dim, activation="relu"), layers.Dense(dim)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.ff2(self.ff1(self.n2(x)))


def build(length, dim, depth, heads):
    inp = keras.Input((length,), dtype="int32")
    x = layers.Embedding(len(SYMBOLS), dim)(inp)
    x = x + layers.Embedding(length, dim)(tf.range(length))
    for _ in range(depth):
        x = Block(dim, heads)(x)
    return keras.Model(inp, layers.Dense(len(SYMBOLS))(layers.LayerNormalization()(x)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--length", type=int, default=64)
    ap.add_argument("--dim", type=int, default=128)
    ap.add_argument("--depth", type=int, default=2)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--steps", type=int, default=150)
    args = ap.parse_args()
    keras.utils.set_random_seed(9)
    ids = corpus(200_000, np.random.default_rng(9))
    chunks = ids[: len(ids) // (args.length + 1) * (args.length + 1)].reshape(-1, args.length + 1)
    ds = (tf.data.Dataset.from_tensor_slices(chunks[64:]).shuffle(len(chunks), seed=0).repeat()
          .batch(args.batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE))
    model = build(args.length, args.dim, args.depth, 4)
    opt = keras.optimizers.AdamW(1e-3, weight_decay=0.01)
    opt.build(model.trainable_variables)

    def xent(tokens, training):
        logits = model(tokens[:, :-1], training=training)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits))

    @tf.function
    def step(tokens):
        with tf.GradientTape() as tape:
            loss = xent(tokens, True)
        opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    evaluate = tf.function(lambda tokens: xent(tokens, False))
    t0 = time.time()
    for i, tokens in enumerate(ds.take(args.steps), 1):
        loss = step(tokens)
        if i % 50 == 0:
            val = evaluate(tf.constant(chunks[:64]))
            print(f"step {i} loss {float(loss):.3f} val {float(val):.3f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
