"""Character-level transformer language model on generated text (model.fit)."""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers


def generate_text(n_words, seed=0):
    rng = np.random.default_rng(seed)
    syll = ["ka", "to", "mi", "re", "su", "lo", "ven", "dar", "is", "on"]
    words = ["".join(rng.choice(syll, rng.integers(1, 4))) for _ in range(400)]
    p = 1.0 / np.arange(1, 401)
    return " ".join(rng.choice(words, n_words, p=p / p.sum()))


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.ln1 = layers.LayerNormalization()
        self.ln2 = layers.LayerNormalization()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(4 * dim, activation="gelu"), layers.Dense(dim)])

    def call(self, x):
        h = self.ln1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.ff(self.ln2(x))


class Positions(layers.Layer):
    def __init__(self, vocab, length, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)
        self.length = length

    def call(self, ids):
        return self.tok(ids) + self.pos(tf.range(self.length))


def build(vocab, a):
    inp = keras.Input((a.length,), dtype="int32")
    x = Positions(vocab, a.length, a.dim)(inp)
    for _ in range(a.layers):
        x = Block(a.dim, 4)(x)
    x = layers.LayerNormalization()(x)
    return keras.Model(inp, layers.Dense(vocab)(x))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--length", type=int, default=128)
    p.add_argument("--dim", type=int, default=128)
    p.add_argument("--layers", type=int, default=3)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--steps", type=int, default=40)
    a = p.parse_args()
    keras.utils.set_random_seed(17)
    text = generate_text(20_000)
    chars = sorted(set(text))
    lut = np.zeros(256, np.int32)
    for i, c in enumerate(chars):
        lut[ord(c)] = i
    ids = lut[np.frombuffer(text.encode(), np.uint8)]
    n = (len(ids) - 1) // a.length
    x = ids[:n * a.length].reshape(n, a.length)
    y = ids[1:n * a.length + 1].reshape(n, a.length)
    ds = (tf.data.Dataset.from_tensor_slices((x, y)).shuffle(n, seed=2).repeat()
          .batch(a.batch, drop_remainder=True).prefetch(2))
    model = build(len(chars), a)
    model.compile(keras.optimizers.AdamW(1e-3, weight_decay=0.01),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(ds, steps_per_epoch=a.steps // 2, epochs=2, verbose=2)
    probs = tf.nn.softmax(model(x[:1])[0, -1]).numpy()
    print("most likely next character: %r (%.3f)" % (chars[probs.argmax()], probs.max()))


if __name__ == "__main__":
    main()
