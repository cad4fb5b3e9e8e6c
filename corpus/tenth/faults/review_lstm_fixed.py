#!/usr/bin/env python
# Sentiment of short product reviews, embedding + LSTM
# (adapted from the usual IMDB tutorial)
import numpy as np
import tensorflow as tf
from tensorflow.keras.preprocessing.sequence import pad_sequences
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Input, Embedding, LSTM, Dense, Dropout

max_features = 5000
maxlen = 50
batch_size = 64
epochs = 2

tf.keras.utils.set_random_seed(1)

good = ["great", "love", "perfect", "works", "happy", "excellent", "nice"]
bad = ["broken", "refund", "poor", "waste", "terrible", "late", "cheap"]


def random_word(rng):
    return "w%d" % int(rng.zipf(1.3) % 4000)


def make_reviews(n, rng):
    texts, labels = [], []
    for _ in range(n):
        label = rng.randint(0, 2)
        length = rng.randint(6, 50)
        words = [random_word(rng) for _ in range(length)]
        pool = good if label else bad
        other = bad if label else good
        for _ in range(rng.randint(1, 4)):
            words[rng.randint(0, length)] = pool[rng.randint(0, len(pool))]
        if rng.rand() < 0.2:
            words[rng.randint(0, length)] = other[rng.randint(0, len(other))]
        texts.append(" ".join(words))
        labels.append(label)
    return texts, np.array(labels, dtype="float32")


class SimpleTokenizer:
    def __init__(self, num_words):
        self.num_words = num_words
        self.word_index = {}

    def fit_on_texts(self, texts):
        counts = {}
        for t in texts:
            for w in t.split():
                counts[w] = counts.get(w, 0) + 1
        ranked = sorted(counts, key=lambda w: (-counts[w], w))
        self.word_index = {w: i + 2 for i, w in enumerate(ranked[: self.num_words - 2])}

    def texts_to_sequences(self, texts):
        return [[self.word_index.get(w, 1) for w in t.split()] for t in texts]


print("Loading data...")
rng = np.random.RandomState(0)
train_texts, y_train = make_reviews(2500, rng)
test_texts, y_test = make_reviews(600, rng)
tok = SimpleTokenizer(max_features)
tok.fit_on_texts(train_texts)

print("Pad sequences (samples x time)")
x_train = pad_sequences(tok.texts_to_sequences(train_texts), maxlen=maxlen, padding="post")
x_test = pad_sequences(tok.texts_to_sequences(test_texts), maxlen=maxlen, padding="post")
print("x_train shape:", x_train.shape)
print("x_test shape:", x_test.shape)

print("Build model...")
model = Sequential([
    Input(shape=(None,), dtype="int32"),
    Embedding(max_features, 64, mask_zero=True),
    LSTM(64),
    Dropout(0.2),
    Dense(1, activation="sigmoid"),
])
model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
model.summary()

print("Train...")
model.fit(x_train, y_train, batch_size=batch_size, epochs=epochs,
          validation_data=(x_test, y_test), verbose=2)
score, acc = model.evaluate(x_test, y_test, batch_size=batch_size, verbose=0)
print("Test score:", score)
print("Test accuracy:", acc)
