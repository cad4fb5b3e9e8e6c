"""Embeds a catalogue batch by batch and looks up the nearest neighbours of some items."""

import numpy as np
import tensorflow as tf

ITEMS, FEATURES, DIM, BATCH = 120_000, 64, 256, 256

encoder = tf.keras.Sequential(
    [
        tf.keras.Input((FEATURES,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(DIM),
        tf.keras.layers.UnitNormalization(),
    ]
)


@tf.function
def embed(batch):
    return encoder(batch, training=False)


def all_embeddings(dataset):
    embeddings = np.empty((0, DIM), dtype="float32")
    for batch in dataset:
        embeddings = np.append(embeddings, embed(batch).numpy(), axis=0)
    return embeddings


features = np.random.default_rng(1).normal(size=(ITEMS, FEATURES)).astype("float32")
catalogue = tf.data.Dataset.from_tensor_slices(features).batch(BATCH).prefetch(2)
vectors = all_embeddings(catalogue)
queries = vectors[:64]
scores, neighbours = tf.math.top_k(tf.matmul(queries, vectors, transpose_b=True), k=10)
print(vectors.shape, neighbours.numpy()[:3])
