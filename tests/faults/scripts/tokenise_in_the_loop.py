import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

rng = np.random.default_rng(18)
LETTERS = list("abcdefghijklmnopqrstuvwxyz .,!?ABCDEFGHIJKLMNOPQRSTUVWXYZ")
reviews = ["".join(rng.choice(LETTERS, 600)) for _ in range(800)]
good = rng.integers(0, 2, 800).astype("float32")
KEEP = "abcdefghijklmnopqrstuvwxyz "
LENGTH = 400


def encode(text):
    cleaned = ""
    for ch in text.lower():  # FAULT
        if ch in KEEP:  # FAULT
            cleaned += ch  # FAULT
    codes = [KEEP.index(ch) + 1 for ch in cleaned[:LENGTH]]  # FAULT
    return codes + [0] * (LENGTH - len(codes))


def get_batch(start, size=32):
    return np.array([encode(t) for t in reviews[start : start + size]]), good[start : start + size]  # FAULT


model = tf.keras.Sequential(
    [
        layers.Input((LENGTH,), dtype="int64"),
        layers.Embedding(28, 8),
        layers.Conv1D(8, 7, strides=4, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dense(1),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(ids, labels):
    with tf.GradientTape() as tape:
        loss = loss_fn(labels[:, None], model(ids, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for epoch in range(20):
    for start in range(0, 800, 32):
        ids, labels = get_batch(start)  # FAULT
        loss = train_step(tf.constant(ids), tf.constant(labels))
    print("epoch", epoch, "loss", float(loss))

# /// fault
# style = "text"
# kind = "time"
# cause = "Each batch of text is cleaned and encoded character by character in Python before the step"
# codes = ["LIN001"]
# families = ["step", "input"]
# source = "Stack Overflow questions on slow text preprocessing in a training loop; 88 of 224 problems of arXiv 2112.01771 arise in data preparation"
# renamed = true
# ///
