"""Write verses with a small decoder, one token after the other."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, DIM, MAX = 300, 64, 96


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = layers.MultiHeadAttention(4, DIM // 4)
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.feed = tf.keras.Sequential([layers.Dense(4 * DIM, "relu"), layers.Dense(DIM)])

    def call(self, x):
        x = self.norm1(x + self.attention(x, x, use_causal_mask=True))
        return self.norm2(x + self.feed(x))


class Poet(tf.keras.Model):
    def __init__(self, depth):
        super().__init__()
        self.tokens, self.places = layers.Embedding(VOCAB, DIM), layers.Embedding(MAX, DIM)
        self.blocks = [Block() for _ in range(depth)]
        self.head = layers.Dense(VOCAB)

    def call(self, ids):
        x = self.tokens(ids) + self.places(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


tf.keras.utils.set_random_seed(14)
poet = Poet(2)
poet(tf.zeros([1, MAX], tf.int32))


@tf.function
def next_logits(ids, last):
    return poet(ids)[:, last]


def write(prompt, length):
    ids = np.array([prompt], "int32")
    while ids.shape[1] < length:
        padded = np.pad(ids, [(0, 0), (0, MAX - ids.shape[1])])
        logits = next_logits(tf.constant(padded), tf.constant(ids.shape[1] - 1)).numpy()[0]
        noise = np.random.gumbel(size=VOCAB)
        ids = np.concatenate([ids, [[np.argmax(logits / 0.8 + noise)]]], axis=1).astype("int32")
    return ids[0]


for prompt in ([5, 9, 2], [44, 7, 80], [1, 2, 3], [250, 11, 6]):
    verse = write(prompt, 36)
    print(len(verse), verse[-8:])
