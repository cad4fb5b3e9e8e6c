import numpy as np
import tensorflow as tf

SOUNDS, QUERIES, BINS = 4800, 1440, 128
rng = np.random.default_rng(4)
spectra = rng.random((SOUNDS, BINS, 8), dtype="float32")
queries = rng.normal(size=(QUERIES, 32)).astype("float32")
encoder = tf.keras.Sequential(
    [
        tf.keras.layers.Input((BINS, 8)),
        tf.keras.layers.Conv1D(32, 5, activation="relu"),
        tf.keras.layers.Conv1D(32, 5, activation="relu"),
        tf.keras.layers.GlobalMaxPooling1D(),
        tf.keras.layers.Dense(32),
    ]
)
served = tf.Variable(0)
sounds = tf.data.Dataset.from_tensor_slices(spectra).batch(160)
catalogue = sounds.map(lambda x: encoder(x))  # FAULT


@tf.function
def best_match(query):
    served.assign_add(tf.shape(query)[0])
    least = tf.fill([tf.shape(query)[0]], -1e9)
    scores = catalogue.map(lambda sounds: tf.reduce_max(tf.matmul(query, sounds, transpose_b=True), axis=1))
    return scores.reduce(least, tf.maximum)


total = 0.0
for query in tf.data.Dataset.from_tensor_slices(queries).batch(24):
    total += float(tf.reduce_sum(best_match(query)))
print("served", int(served), "score %.3f" % (total / QUERIES))

# /// fault
# style = "custom"
# kind = "time"
# cause = "the dataset of embeddings is mapped lazily and each call of the compiled function goes through it again, so the encoder runs over the whole catalogue for each block of queries"
# codes = ["INP006"]
# families = ["input"]
# source = "https://www.tensorflow.org/guide/data_performance: a map without cache() runs in each pass; tensorflow/recommenders #372"
# ///
