"""Samples a handful of short poems from a character GRU (weights are random here)."""
import argparse

import numpy as np
import tensorflow as tf

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz',.-"


class CharGRU(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, rnn_units):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(
            rnn_units, return_sequences=True, return_state=True
        )
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, states=None, return_state=False, training=False):
        x = self.embedding(inputs, training=training)
        x, states = self.gru(x, initial_state=states, training=training)
        x = self.dense(x, training=training)
        if return_state:
            return x, states
        return x


class Poet:
    def __init__(self, model, temperature=0.8, seed=17):
        self.model = model
        self.temperature = temperature
        self.rng = np.random.default_rng(seed)
        self.ids = {c: i for i, c in enumerate(ALPHABET)}

    def pick(self, logits):
        noise = self.rng.gumbel(size=logits.shape)
        return np.argmax(logits / self.temperature + noise, axis=-1)

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int64),
            tf.TensorSpec([None, None], tf.float32),
        ]
    )
    def score(self, tokens, states):
        logits, states = self.model(tokens, states=states, return_state=True)
        return logits[:, -1], states

    def compose(self, openings, length):
        tokens = np.array([[self.ids[c] for c in o] for o in openings], np.int64)
        fresh = tokens
        states = tf.zeros((len(openings), self.model.gru.units))
        for _ in range(length):
            logits, states = self.score(tf.constant(fresh), states)
            fresh = self.pick(logits.numpy())[:, None]
            tokens = np.concatenate([tokens, fresh], axis=1)
        return ["".join(ALPHABET[i] for i in row) for row in tokens]


def line_stats(poems):
    lengths = [len(line) for p in poems for line in p.split("\n")]
    return sum(lengths), len(lengths)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--length", type=int, default=340)
    p.add_argument("--units", type=int, default=160)
    p.add_argument("--temperature", type=float, default=0.8)
    return p.parse_args()


def main():
    args = parse()
    tf.keras.utils.set_random_seed(5)
    model = CharGRU(len(ALPHABET), 32, args.units)
    model(tf.zeros((1, 2), tf.int64))
    poet = Poet(model, args.temperature)
    openings = ["old pond ", "autumn - ", "a cicada", "the wind "]
    width = max(map(len, openings))
    poems = poet.compose([o.ljust(width) for o in openings], args.length)
    for poem in poems:
        print(repr(poem[:34]))
    print(*line_stats(poems))


if __name__ == "__main__":
    main()
