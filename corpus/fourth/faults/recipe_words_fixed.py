"""Predict the cuisine of a recipe from its ingredients (bag of words, averaged)."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB = 12000
INGREDIENTS = 12
CUISINES = 20


class WordVectors(layers.Layer):
    def __init__(self, vocab, dim):
        super().__init__()
        self.table = layers.Embedding(vocab, dim, embeddings_initializer="glorot_uniform")

    def call(self, words):
        return self.table(words)


def load_recipes(count):
    rng = np.random.default_rng(31)
    cuisine = rng.integers(0, CUISINES, count)
    words = (cuisine[:, None] * 400 + rng.zipf(1.3, (count, INGREDIENTS))) % VOCAB
    return words.astype("int32"), cuisine.astype("int32")


tf.keras.utils.set_random_seed(31)
words, cuisine = load_recipes(4096)
inp = layers.Input((INGREDIENTS,), dtype="int32")
vec = WordVectors(VOCAB, 48)(inp)
hid = layers.Dense(64, activation="relu")(layers.GlobalAveragePooling1D()(vec))
out = layers.Dense(CUISINES, activation="softmax")(hid)
model = tf.keras.Model(inp, out)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(words, cuisine, batch_size=64, epochs=4, verbose=2)
