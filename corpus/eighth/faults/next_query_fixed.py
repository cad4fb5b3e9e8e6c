"""Next-query suggestion: predict the id of the next search from the last 32 of a session."""
import sys
import time

import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
from tensorflow import keras
from tensorflow.keras import layers

VOCAB = 8000
HISTORY = 32
BATCH = 64

keras.utils.set_random_seed(11)


def make_sessions(n):
    rng = np.random.default_rng(3)
    topic = rng.integers(0, 80, size=(n, 1))
    queries = topic * 100 + rng.zipf(1.7, size=(n, HISTORY + 1)) % 100
    return queries[:, :-1].astype("int32"), queries[:, -1].astype("int32")


class SessionModel(keras.Model):
    def __init__(self, vocab, dim=64, units=128):
        super().__init__()
        self.embed = layers.Embedding(vocab, dim)
        self.rnn = layers.GRU(units, return_sequences=True)
        self.norm = layers.LayerNormalization()
        self.project = layers.Dense(vocab, name="vocab")

    def call(self, ids):
        h = self.norm(self.rnn(self.embed(ids)))
        return self.project(h[:, -1])


x, y = make_sessions(BATCH * 32)
model = SessionModel(VOCAB)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=[keras.metrics.SparseTopKCategoricalAccuracy(k=10, name="hit10")],
)
history = model.fit(x, y, batch_size=BATCH, epochs=1, verbose=2)
print("hit@10 on train: %.3f" % history.history["hit10"][-1])
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
