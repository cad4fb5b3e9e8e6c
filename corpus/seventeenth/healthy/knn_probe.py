"""Train an encoder and keep the weights with the best nearest-neighbour accuracy."""
import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CLASSES = 20
DIM = 64


def make_data(n, seed):
    protos = np.random.default_rng(100).normal(size=(CLASSES, DIM))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, n)
    x = protos[y] + rng.normal(0, 1.6, size=(n, DIM))
    return x.astype("float32"), y.astype("int32")


def build_encoder():
    tf.keras.utils.set_random_seed(2)
    inputs = layers.Input((DIM,))
    h = layers.Dense(128, activation="relu")(inputs)
    code = layers.Dense(64, name="code")(h)
    outputs = layers.Dense(CLASSES, activation="softmax")(code)
    model = tf.keras.Model(inputs, outputs)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    return model, tf.keras.Model(inputs, code)


class NearestNeighbourProbe(tf.keras.callbacks.Callback):
    def __init__(self, encoder, gallery, queries, k=15, chunk=1000):
        super().__init__()
        self.encoder = encoder
        self.gallery = gallery
        self.queries = queries
        self.k = k
        self.chunk = chunk
        self.best = -1.0
        self.best_weights = None
        self.scores = []

    @staticmethod
    def _normalise(codes):
        return codes / np.linalg.norm(codes, axis=1, keepdims=True)

    def _vote(self, similarity, labels):
        near = np.argpartition(-similarity, self.k, axis=1)[:, :self.k]
        votes = np.zeros((len(near), CLASSES))
        for j in range(self.k):
            votes[np.arange(len(near)), labels[near[:, j]]] += 1
        return votes.argmax(1)

    def on_epoch_end(self, epoch, logs=None):
        gallery = self._normalise(self.encoder.predict(self.gallery[0], batch_size=2048, verbose=0))
        queries = self._normalise(self.encoder.predict(self.queries[0], batch_size=2048, verbose=0))
        hits = 0
        for start in range(0, len(queries), self.chunk):
            similarity = queries[start:start + self.chunk] @ gallery.T
            guess = self._vote(similarity, self.gallery[1])
            hits += int((guess == self.queries[1][start:start + self.chunk]).sum())
        score = hits / len(queries)
        self.scores.append(score)
        if score > self.best:
            self.best, self.best_weights = score, self.model.get_weights()

    def on_train_end(self, logs=None):
        self.model.set_weights(self.best_weights)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--gallery", type=int, default=10000)
    parser.add_argument("--queries", type=int, default=5000)
    args = parser.parse_args()

    gallery, queries = make_data(args.gallery, 0), make_data(args.queries, 1)
    model, encoder = build_encoder()
    probe = NearestNeighbourProbe(encoder, gallery, queries)
    model.fit(*gallery, batch_size=256, epochs=args.epochs, callbacks=[probe], verbose=0)
    print("knn", [round(s, 4) for s in probe.scores], "best", round(probe.best, 4))


if __name__ == "__main__":
    main()
