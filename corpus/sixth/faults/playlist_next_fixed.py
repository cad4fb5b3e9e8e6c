"""Predicts whether a listener keeps a track: track and listener embeddings and a dot product."""

import keras
import numpy as np
from keras import layers, ops

TRACKS, LISTENERS, DIM = 400_000, 100_000, 32


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        self.track = layers.Embedding(TRACKS, DIM)
        self.listener = layers.Embedding(LISTENERS, DIM)
        self.track_bias = layers.Embedding(TRACKS, 1)

    def call(self, inputs):
        track, listener = inputs[:, 0], inputs[:, 1]
        score = ops.sum(self.track(track) * self.listener(listener), axis=-1, keepdims=True)
        return ops.sigmoid(score + self.track_bias(track))


rng = np.random.default_rng(0)
plays = np.stack([rng.integers(0, TRACKS, 60_000), rng.integers(0, LISTENERS, 60_000)], axis=1)
kept = rng.integers(0, 2, (60_000, 1)).astype("float32")
model = Recommender()
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.SGD(0.5))
model.fit(plays, kept, batch_size=256, epochs=1, verbose=2)
