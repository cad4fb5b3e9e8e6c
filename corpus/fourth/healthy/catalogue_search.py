"""Train an encoder of products, embed the whole catalogue, save the model and answer queries."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

WORDS, LENGTH, KINDS = 4000, 20, 25


def products(count, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, KINDS, count)
    tokens = (kind[:, None] * 150 + rng.integers(0, 400, (count, LENGTH))) % WORDS
    return tokens.astype("int32"), kind


@tf.function
def nearest(queries, catalogue):
    scores = tf.matmul(tf.math.l2_normalize(queries, 1), catalogue, transpose_b=True)
    return tf.math.top_k(scores, 5).indices


keras.utils.set_random_seed(33)
tokens, kind = products(20000, 33)
encoder = keras.Sequential([
    keras.layers.Input((LENGTH,), dtype="int32"),
    keras.layers.Embedding(WORDS, 64),
    keras.layers.Conv1D(128, 3, activation="relu"),
    keras.layers.GlobalMaxPooling1D(),
    keras.layers.Dense(64),
])
classifier = keras.Sequential([encoder, keras.layers.Dense(KINDS)])
classifier.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((tokens, kind)).shuffle(20000).batch(128).prefetch(tf.data.AUTOTUNE)
classifier.fit(data, epochs=4, verbose=2)

vectors = tf.math.l2_normalize(encoder.predict(tokens, batch_size=2048, verbose=0), axis=1)
with tempfile.TemporaryDirectory() as folder:
    encoder.save(os.path.join(folder, "encoder.keras"))
queries, wanted = products(2000, 34)
found = nearest(encoder.predict(queries, batch_size=1000, verbose=0), vectors).numpy()
print("precision at 5", round(float(np.mean(kind[found] == wanted[:, None])), 3))
