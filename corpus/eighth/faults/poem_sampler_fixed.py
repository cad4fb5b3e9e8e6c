"""Sample text character by character from a GRU language model."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
tf.keras.utils.set_random_seed(9)

CHARS = list("abcdefghijklmnopqrstuvwxyz ,.\n")
LENGTH = 420


class CharModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(len(CHARS), 32)
        self.gru = tf.keras.layers.GRU(256, return_sequences=True, return_state=True)
        self.out = tf.keras.layers.Dense(len(CHARS))

    def call(self, ids, state=None):
        seq, state = self.gru(self.embed(ids), initial_state=state)
        return self.out(seq), state


model = CharModel()
model(tf.zeros([1, 4], tf.int32))   # weights would be restored from the checkpoint here


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, 256])])
def next_char(ids, state):
    logits, state = model(ids, state)
    return tf.random.categorical(logits[:, -1] / 0.8, 1, dtype=tf.int32), state


def sample(prompt, copies=16):
    text = tf.constant([[CHARS.index(c) for c in prompt]] * copies, tf.int32)
    nxt, state = text, tf.zeros([copies, 256])
    while text.shape[1] < LENGTH:
        nxt, state = next_char(nxt, state)
        text = tf.concat([text, nxt], axis=1)
    return ["".join(CHARS[i] for i in row) for row in text.numpy()]


for poem in sample("the sea ")[:2]:
    print(repr(poem[:70]))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
