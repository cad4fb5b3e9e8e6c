import json
import random
import tempfile

import numpy as np
import tensorflow as tf

random.seed(1)
words = ["".join(random.choices("abcdefghijklmnop", k=6)) for _ in range(60000)]
vocab_path = tempfile.mktemp(suffix=".json")
with open(vocab_path, "w") as f:
    json.dump({w: i + 1 for i, w in enumerate(words)}, f)

sentences = [random.choices(words[:500], k=12) for _ in range(2000)]
labels = np.random.randint(0, 2, 2000).astype("float32")


def encode(batch):
    with open(vocab_path) as f:  # FAULT
        vocab = json.load(f)  # FAULT
    return np.array([[vocab.get(w, 0) for w in s] for s in batch], dtype="int32")


model = tf.keras.Sequential(
    [
        tf.keras.Input((12,), dtype="int32"),
        tf.keras.layers.Embedding(1000, 16),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(0.01)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_on(tokens, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(tokens % 1000, training=True)[:, 0])
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(3):
    for start in range(0, 2000, 40):
        loss = train_on(tf.constant(encode(sentences[start : start + 40])), tf.constant(labels[start : start + 40]))
    print("epoch", epoch, float(loss))

# /// fault
# style = "text"
# kind = "time"
# cause = "The vocabulary is read from its JSON file for every batch that is encoded"
# codes = ["INP002"]
# families = ["input"]
# source = "class 'repeated work' in data preparation of arXiv 2112.01771; own variation on questions about slow tokenisers"
# ///
