"""Sentiment of made-up reviews: bag-of-embeddings classifier."""
import random
import re

import numpy as np
import tensorflow as tf

WORDS = ["good", "bad", "fine", "awful", "great", "plot", "actor", "scene", "music", "long",
         "short", "boring", "funny", "sad", "clever", "weak", "strong", "slow", "fast", "odd"]
VOCAB = {w + str(k): 1 + i * 50 + k for i, w in enumerate(WORDS) for k in range(50)}
MAXLEN = 60


def corpus(n):
    r = random.Random(5)
    keys = list(VOCAB)
    for _ in range(n):
        words = [r.choice(keys) for _ in range(r.randint(20, 90))]
        yield " ".join(words).capitalize() + "!", float(sum(VOCAB[w] for w in words) / len(words) > 500)


def encode(text):
    tokens = re.findall(r"[a-z]+[0-9]+", text.lower())
    ids = [VOCAB.get(t, 0) for t in tokens][:MAXLEN]
    return np.array(ids + [0] * (MAXLEN - len(ids)), dtype="int32")


reviews = list(corpus(4000))


tokens = np.stack([encode(text) for text, _ in reviews])
labels = np.array([label for _, label in reviews], dtype="float32")
train = tf.data.Dataset.from_tensor_slices((tokens, labels)).batch(100).cache().prefetch(2)

tf.keras.utils.set_random_seed(5)
model = tf.keras.Sequential([
    tf.keras.layers.Embedding(1001, 16),
    tf.keras.layers.GlobalAveragePooling1D(),
    tf.keras.layers.Dense(1),
])
model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True))
history = model.fit(train, epochs=8, verbose=0)
print("loss %.5f" % history.history["loss"][-1])
