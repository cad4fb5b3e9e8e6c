import string

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEQ_LENGTH = 24
START, END = "startseq", "endseq"


def lexicon(n, seed=2):
    rng = np.random.default_rng(seed)
    letters = np.array(list(string.ascii_lowercase))
    words = set()
    while len(words) < n:
        words.add("".join(rng.choice(letters, rng.integers(4, 10))))
    return [START, END] + sorted(words)


class Attention(layers.Layer):
    def __init__(self, units, **kw):
        super().__init__(**kw)
        self.q = layers.Dense(units)
        self.k = layers.Dense(units)
        self.v = layers.Dense(1)

    def call(self, query, regions):
        scores = self.v(tf.nn.tanh(self.q(query)[:, None] + self.k(regions)))
        weights = tf.nn.softmax(scores, axis=1)
        return tf.reduce_sum(weights * regions, axis=1)


class CaptionDecoder(tf.keras.Model):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.embed = layers.Embedding(vocab_size, dim)
        self.attend = Attention(dim)
        self.cell = layers.GRUCell(dim)
        self.out = layers.Dense(vocab_size)

    def call(self, token, state, regions):
        context = self.attend(state, regions)
        x = tf.concat([self.embed(token), context], axis=-1)
        x, _ = self.cell(x, [state])
        return self.out(x), x


class Captioner:
    def __init__(self, vectorizer, decoder, dim):
        self.vectorizer = vectorizer
        self.decoder = decoder
        self.dim = dim
        self.word_to_id = layers.StringLookup(
            vocabulary=vectorizer.get_vocabulary(include_special_tokens=False),
            mask_token="",
        )
        self.vocabulary = vectorizer.get_vocabulary()
        self.step = tf.function(lambda t, s, r: decoder(t, s, r))

    def generate(self, regions):
        state = tf.zeros((1, self.dim))
        token = self.word_to_id(tf.constant([START]))
        words, seen = [], set()
        for _ in range(SEQ_LENGTH):
            logits, state = self.step(token, state, regions)
            logits = logits.numpy()[0]
            logits[[0, 1, *seen]] = -np.inf
            index = int(np.argmax(logits))
            word = self.vocabulary[index]
            if word == END:
                break
            seen.add(index)
            words.append(word)
            token = tf.constant([index], tf.int64)
        return " ".join(words)


def rouge_like(a, b):
    a, b = set(a.split()), set(b.split())
    return len(a & b) / max(1, len(a | b))


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(9)
    words = lexicon(12000)
    vectorizer = layers.TextVectorization(
        output_sequence_length=SEQ_LENGTH, vocabulary=words
    )
    dim = 48
    decoder = CaptionDecoder(len(vectorizer.get_vocabulary()), dim)
    captioner = Captioner(vectorizer, decoder, dim)

    rng = np.random.default_rng(14)
    captions = []
    for _ in range(9):
        regions = tf.constant(rng.normal(size=(1, 16, dim)) * 4, tf.float32)
        captions.append(captioner.generate(regions))
    for caption in captions[:4]:
        print(caption[:60])
    overlap = [rouge_like(a, b) for a, b in zip(captions, captions[1:])]
    print("mean overlap %.3f" % np.mean(overlap), sum(len(c.split()) for c in captions))
