"""Tags the sentences of documents; the tagger is read from disk once."""

import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
net = tf.keras.Sequential(
    [
        tf.keras.layers.Embedding(2000, 32),
        tf.keras.layers.Bidirectional(tf.keras.layers.GRU(16, return_sequences=True)),
        tf.keras.layers.Dense(9),
    ]
)
net(np.zeros((1, 20), "int32"))
path = tempfile.mkdtemp() + "/tagger.keras"
net.save(path)


tagger = tf.keras.models.load_model(path)


def tag(document):
    return np.argmax(tagger(document), axis=-1)


counts = np.zeros(9, int)
for _ in range(40):
    counts += np.bincount(tag(rng.integers(0, 2000, (16, 20))).ravel(), minlength=9)
print(counts)
