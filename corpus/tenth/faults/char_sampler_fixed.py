"""Samples names/recipes/lyrics character by character from a GRU language model.

    python char_sampler.py --weights ckpt/char_gru.weights.h5 --length 600
Without --weights an untrained network is used (good enough to check the output format).
"""
import argparse
import os
import string

import numpy as np
import tensorflow as tf

VOCAB = sorted(set(string.ascii_lowercase + string.digits + " .,;:!?'-\n"))
CHAR2ID = {c: i for i, c in enumerate(VOCAB)}


class CharGRU(tf.keras.Model):
    def __init__(self, vocab_size, embed_dim=64, units=256):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embed_dim)
        self.gru1 = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.gru2 = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.out = tf.keras.layers.Dense(vocab_size)

    def call(self, ids, states=None, return_state=False):
        s1, s2 = states if states is not None else (None, None)
        x = self.embedding(ids)
        x, s1 = self.gru1(x, initial_state=s1)
        x, s2 = self.gru2(x, initial_state=s2)
        logits = self.out(x)
        if return_state:
            return logits, (s1, s2)
        return logits


class Sampler:
    def __init__(self, model, temperature):
        self.model = model
        self.temperature = temperature

    @tf.function(reduce_retracing=True)
    def next_logits(self, ids, states):
        logits, states = self.model(ids, states=states, return_state=True)
        return logits[0, -1] / self.temperature, states

    def generate(self, prompt, length, rng):
        ids = [CHAR2ID[c] for c in prompt]
        states = None
        fresh = ids
        for _ in range(length):
            logits, states = self.next_logits(tf.constant([fresh], tf.int32), states)
            fresh = [pick(logits.numpy(), rng)]
            ids = ids + fresh
        return "".join(VOCAB[i] for i in ids)


def pick(logits, rng):
    p = np.exp((logits - logits.max()).astype("float64"))
    return int(np.searchsorted(np.cumsum(p / p.sum()), rng.random()))


def distinct_ngrams(text, n):
    grams = [text[i:i + n] for i in range(len(text) - n + 1)]
    return len(set(grams)) / max(1, len(grams))


def load_model(weights):
    tf.keras.utils.set_random_seed(8)
    model = CharGRU(len(VOCAB))
    model(tf.zeros((1, 2), tf.int32))
    if weights and os.path.exists(weights):
        model.load_weights(weights)
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights")
    parser.add_argument("--length", type=int, default=230)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--prompts", nargs="*", default=["once upon", "the sea "])
    args = parser.parse_args()

    sampler = Sampler(load_model(args.weights), args.temperature)
    rng = np.random.default_rng(0)
    for prompt in args.prompts:
        text = sampler.generate(prompt, args.length, rng)
        print("=" * 60)
        print(repr(text[:80]), "...")
        print("chars", len(text), " distinct-2 %.3f" % distinct_ngrams(text, 2),
              " distinct-3 %.3f" % distinct_ngrams(text, 3))


if __name__ == "__main__":
    main()
