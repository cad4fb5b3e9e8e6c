"""Sentiment of short product reviews, 1-D convolutions over word ids."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
from tensorflow.keras import layers, Sequential
from tensorflow.keras.utils import pad_sequences, set_random_seed

set_random_seed(3)
MAX_WORDS = 5000
MAX_LEN = 60
rng = np.random.default_rng(6)


def fake_reviews(n):
    good = rng.integers(0, 2, n)
    lens = np.clip(rng.poisson(22, n), 5, 60)
    words = [np.where(rng.random(k) < 0.2, 10 + g, rng.integers(12, MAX_WORDS, k)) for g, k in zip(good, lens)]
    return words, good.astype("float32")


train_words, train_y = fake_reviews(3000)
test_words, test_y = fake_reviews(600)
print("mean length:", np.mean([len(w) for w in train_words]))

x_train = pad_sequences(train_words, maxlen=MAX_LEN, padding="post")
x_test = pad_sequences(test_words, maxlen=MAX_LEN, padding="post")

model = Sequential([
    layers.Input((MAX_LEN,)),
    layers.Embedding(MAX_WORDS, 64),
    layers.Conv1D(96, 5, activation="relu"),
    layers.Conv1D(96, 5, activation="relu"),
    layers.GlobalMaxPooling1D(),
    layers.Dense(32, activation="relu"),
    layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
model.fit(x_train, train_y, batch_size=64, epochs=3, validation_data=(x_test, test_y), verbose=2)
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
