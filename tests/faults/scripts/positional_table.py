"""A tiny attention model with sinusoidal positions."""

import math

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LENGTH, WIDTH, VOCAB = 96, 128, 500


def positions(length, width):
    table = np.zeros((length, width), dtype=np.float32)
    for pos in range(length):
        for i in range(0, width, 2):
            angle = pos / math.pow(10000, i / width)
            table[pos, i] = math.sin(angle)
            table[pos, i + 1] = math.cos(angle)
    return table


tokens = layers.Input((LENGTH,), dtype="int32")
where = layers.Input((LENGTH, WIDTH))
h = layers.Embedding(VOCAB, WIDTH)(tokens) + where
h = layers.MultiHeadAttention(2, 16)(h, h)
logits = layers.Dense(2)(layers.GlobalAveragePooling1D()(h))
model = tf.keras.Model([tokens, where], logits)
opt = tf.keras.optimizers.Adam()
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(ids, pos, y):
    with tf.GradientTape() as tape:
        loss = ce(y, model([ids, pos], training=True))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


rng = np.random.default_rng(9)
corpus = rng.integers(0, VOCAB, (4000, LENGTH)).astype(np.int32)
classes = (corpus[:, 0] > VOCAB // 2).astype(np.int64)
for step in range(400):
    rows = rng.integers(0, 4000, 4)
    pos = positions(LENGTH, WIDTH)  # FAULT
    pos = np.broadcast_to(pos, (4, LENGTH, WIDTH))
    loss = train_step(tf.constant(corpus[rows]), tf.constant(pos), tf.constant(classes[rows]))
print("loss", loss.numpy())

# /// fault
# style = "text"
# kind = "time"
# cause = "A table that never changes is computed again for every batch"
# codes = ["INP011", "LIN001"]
# families = ["input", "step"]
# source = "class 'repeated computation in the loop' of arXiv 2112.01771; transformer tutorials whose positional encoding is rebuilt in each call"
# ///
