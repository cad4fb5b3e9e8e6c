"""Write verses with a character level GRU."""
import argparse

import numpy as np
import tensorflow as tf

ALPHABET = "abcdefghijklmnopqrstuvwxyz ,.\n"


class Poet(tf.keras.Model):
    def __init__(self, units=192):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(len(ALPHABET), 64)
        self.gru = tf.keras.layers.GRU(units, return_sequences=True, return_state=True)
        self.head = tf.keras.layers.Dense(len(ALPHABET))

    def call(self, tokens, state=None):
        x, state = self.gru(self.embedding(tokens), initial_state=state)
        return self.head(x), state


parser = argparse.ArgumentParser()
parser.add_argument("--verses", type=int, default=12)
parser.add_argument("--length", type=int, default=420)
parser.add_argument("--temperature", type=float, default=0.7)
args = parser.parse_args()

tf.keras.utils.set_random_seed(8)
poet = Poet()
poet(tf.zeros([1, 1], tf.int32))
rng = np.random.default_rng(8)


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
def next_logits(tokens):
    logits, _ = poet(tokens)
    return logits[:, -1]


def pick(logits):
    scaled = logits / args.temperature
    noise = rng.gumbel(size=scaled.shape)
    return (scaled + noise).argmax(axis=1).astype("int32")


def write():
    tokens = rng.integers(0, 26, size=(args.verses, 1)).astype("int32")
    while tokens.shape[1] < args.length:
        logits = next_logits(tf.constant(tokens))
        choice = pick(logits.numpy())
        tokens = np.concatenate([tokens, choice[:, None]], axis=1)
    return tokens


verses = write()
text = ["".join(ALPHABET[i] for i in row) for row in verses]
print(repr(text[0][:60]), "letters used", len(set("".join(text))))
