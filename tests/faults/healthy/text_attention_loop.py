"""Next-token prediction with one block of attention, in a loop of its own."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, LENGTH, WIDTH, BATCH = 256, 64, 128, 16
corpus = np.random.default_rng(0).integers(0, VOCAB, 40_000).astype(np.int32)
windows = tf.data.Dataset.from_tensor_slices(corpus).batch(LENGTH + 1, drop_remainder=True)
data = windows.cache().shuffle(1000).repeat().batch(BATCH, drop_remainder=True).prefetch(2)

ids = layers.Input((LENGTH,), dtype="int32")
x = layers.Embedding(VOCAB, WIDTH)(ids)
x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x, use_causal_mask=True))
x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(layers.Dense(512, activation="gelu")(x)))
model = tf.keras.Model(ids, layers.Dense(VOCAB)(x))
optimizer = tf.keras.optimizers.AdamW(1e-3)


@tf.function(input_signature=[tf.TensorSpec((BATCH, LENGTH + 1), tf.int32)])
def train_step(text):
    with tf.GradientTape() as tape:
        logits = model(text[:, :-1], training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(text[:, 1:], logits))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


for step, text in enumerate(data.take(160)):
    loss = train_step(text)
    if step % 40 == 0:
        print("step", step, "loss", float(loss))

# /// healthy
# style = "text"
# renamed = true
# ///
