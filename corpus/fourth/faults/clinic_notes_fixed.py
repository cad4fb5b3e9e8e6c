"""Tag short notes of a clinic: build the vocabulary, encode the notes, train a bidirectional LSTM."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Bidirectional, Dense, Embedding
from tensorflow.keras.models import Sequential
from tensorflow.keras.utils import pad_sequences


def read_notes(n):
    rng = np.random.default_rng(77)
    stems = ["".join(rng.choice(list("abcdefghijklmnoprstuv"), rng.integers(4, 9))) for _ in range(9000)]
    tags = rng.integers(0, 4, n)
    notes = []
    for tag in tags:
        picks = (rng.zipf(1.15, rng.integers(18, 36)) * 4 + tag) % 9000
        notes.append(" ".join(stems[p] for p in picks))
    return notes, tags


notes, tags = read_notes(6000)

# vocabulary
vocab = {"<pad>": 0, "<unk>": 1}
for note in notes:
    for word in note.split():
        if word not in vocab:
            vocab[word] = len(vocab)
print("words", len(vocab))

# encoding
encoded = []
for note in notes:
    encoded.append([vocab[word] for word in note.split()])
X = pad_sequences(encoded, maxlen=24, padding="post")

# model
tf.keras.utils.set_random_seed(77)
model = Sequential()
model.add(Embedding(len(vocab), 32))
model.add(Bidirectional(LSTM(16)))
model.add(Dense(4, activation="softmax"))
model.compile(loss="sparse_categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
model.fit(X, tags, epochs=1, batch_size=128, validation_split=0.1, verbose=2)
