"""Sentence classification with a CNN over frozen pretrained word vectors."""
import os
import tempfile

import numpy as np
import tensorflow as tf

VOCAB = 100000
DIM = 300
MAX_LEN = 48
BATCH = 64
NUM_DOCS = 2560
EPOCHS = 4
CLASSES = 4


class KeyedVectors:
    """Word vectors in the layout of gensim: `vectors` and `key_to_index`."""

    def __init__(self, vectors, index_to_key):
        self.vectors = vectors
        self.index_to_key = index_to_key
        self.key_to_index = {k: i for i, k in enumerate(index_to_key)}

    @classmethod
    def load(cls, path):
        vectors = np.load(os.path.join(path, "vectors.npy"))
        with open(os.path.join(path, "vocab.txt")) as f:
            return cls(vectors, f.read().split("\n"))


class Featurizer:
    def __init__(self, wv, max_len):
        self.wv = wv
        self.max_len = max_len

    def ids(self, docs):
        out = np.zeros((len(docs), self.max_len), np.int32)
        mask = np.zeros((len(docs), self.max_len), np.float32)
        table = self.wv.key_to_index
        for r, doc in enumerate(docs):
            found = [table[w] for w in doc.split() if w in table][: self.max_len]
            out[r, : len(found)] = found
            mask[r, : len(found)] = 1.0
        return out, mask

    def __call__(self, docs):
        ids, mask = self.ids(docs)
        embedded = tf.nn.embedding_lookup(self.wv.vectors, ids)
        return embedded * mask[:, :, None]


class TextCNN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.convs = [
            tf.keras.layers.Conv1D(24, k, activation="relu") for k in (2, 3)
        ]
        self.pool = tf.keras.layers.GlobalMaxPooling1D()
        self.out = tf.keras.layers.Dense(CLASSES)

    def call(self, x):
        return self.out(tf.concat([self.pool(c(x)) for c in self.convs], -1))


def write_vectors(path):
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((VOCAB, DIM), dtype=np.float32)
    np.save(os.path.join(path, "vectors.npy"), vectors)
    with open(os.path.join(path, "vocab.txt"), "w") as f:
        f.write("\n".join(f"w{i}" for i in range(VOCAB)))


def make_corpus():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, CLASSES, NUM_DOCS)
    docs = []
    for y in labels:
        n = rng.integers(20, MAX_LEN + 10)
        words = (VOCAB * rng.random(n) ** 3).astype(int)
        topical = rng.random(n) < 0.25
        words[topical] = 1000 * (y + 1) + rng.integers(0, 60, topical.sum())
        words[rng.random(n) < 0.03] = VOCAB + 5
        docs.append(" ".join(f"w{w}" for w in words))
    return np.array(docs, dtype=object), labels.astype(np.int32)


def main():
    tf.keras.utils.set_random_seed(2)
    with tempfile.TemporaryDirectory() as path:
        write_vectors(path)
        wv = KeyedVectors.load(path)
    docs, labels = make_corpus()
    featurize = Featurizer(wv, MAX_LEN)
    model = TextCNN()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(y, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss, tf.reduce_sum(tf.cast(tf.argmax(logits, -1, tf.int32) == y, tf.int32))

    rng = np.random.default_rng(4)
    for epoch in range(EPOCHS):
        order = rng.permutation(NUM_DOCS)
        losses, correct = [], []
        for start in range(0, NUM_DOCS, BATCH):
            rows = order[start : start + BATCH]
            x = featurize(docs[rows])
            loss, hits = train_step(x, tf.constant(labels[rows]))
            losses.append(loss)
            correct.append(hits)
        print(
            f"epoch {epoch} loss {np.mean([float(l) for l in losses]):.4f} "
            f"accuracy {sum(int(c) for c in correct) / NUM_DOCS:.4f}"
        )


if __name__ == "__main__":
    main()
