"""Routes support tickets: most are short, a few are very long."""

import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, TEAMS, BATCH = 5000, 6, 32
rng = np.random.default_rng(4)
lengths = np.where(rng.random(1600) < 0.06, rng.integers(180, 260, 1600), rng.integers(8, 32, 1600))
tickets = [rng.integers(1, VOCAB, n) for n in lengths]
teams = rng.integers(0, TEAMS, len(tickets))


def read():
    yield from zip(tickets, teams, strict=False)


ds = tf.data.Dataset.from_generator(
    read, output_signature=(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32))
)
ds = ds.cache().shuffle(1600, seed=1)
ds = ds.bucket_by_sequence_length(
    lambda words, team: tf.size(words), bucket_boundaries=[33], bucket_batch_sizes=[BATCH, BATCH]
)
ds = ds.prefetch(tf.data.AUTOTUNE)

model = tf.keras.Sequential(
    [
        layers.Embedding(VOCAB, 64, mask_zero=True),
        layers.Bidirectional(layers.LSTM(64)),
        layers.Dense(TEAMS),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
began = time.perf_counter()
model.fit(ds, epochs=3, verbose=2)
print(f"fit: {time.perf_counter() - began:.2f} s")
