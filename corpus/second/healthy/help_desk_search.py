"""Encode help-desk messages once and answer queries by similarity."""
import numpy as np
import tensorflow as tf


class MessageIndex:
    def __init__(self, vocabulary, length=24):
        self.vectorize = tf.keras.layers.TextVectorization(
            vocabulary=vocabulary, output_sequence_length=length)
        self.encoder = tf.keras.Sequential([
            tf.keras.layers.Input((length,), dtype="int32"),
            tf.keras.layers.Embedding(len(vocabulary) + 2, 96),
            tf.keras.layers.Conv1D(192, 3, activation="relu"),
            tf.keras.layers.Conv1D(192, 3, activation="relu"),
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dense(96),
            tf.keras.layers.UnitNormalization(),
        ])

    def encode(self, texts):
        data = (tf.data.Dataset.from_tensor_slices(texts)
                .batch(512)
                .map(self.vectorize, num_parallel_calls=tf.data.AUTOTUNE)
                .prefetch(tf.data.AUTOTUNE))
        return self.encoder.predict(data, verbose=0)

    def build(self, texts):
        self.vectors = tf.constant(self.encode(texts))

    def search(self, texts, k=3):
        scores = tf.matmul(tf.constant(self.encode(texts)), self.vectors, transpose_b=True)
        return tf.math.top_k(scores, k)


def make_texts(rng, vocabulary, count):
    picks = rng.zipf(1.4, size=(count, 18)) % len(vocabulary)
    return [" ".join(row) for row in np.asarray(vocabulary)[picks]]


def main():
    tf.keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    vocabulary = ["word%d" % k for k in range(9000)]
    index = MessageIndex(vocabulary)
    index.build(make_texts(rng, vocabulary, 50000))
    found = index.search(make_texts(rng, vocabulary, 1500))
    print("mean top score %.4f" % float(tf.reduce_mean(found.values[:, 0])))


if __name__ == "__main__":
    main()
