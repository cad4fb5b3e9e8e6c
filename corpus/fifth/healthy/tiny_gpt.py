"""A small causal transformer with a training loop of its own."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB, T, D = 2000, 96, 128
text = np.random.default_rng(1).integers(0, VOCAB, 60_000)


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = layers.LayerNormalization(), layers.LayerNormalization()
        self.attention = layers.MultiHeadAttention(4, D // 4)
        self.up, self.down = layers.Dense(4 * D, activation="gelu"), layers.Dense(D)

    def call(self, x):
        y = self.a(x)
        x = x + self.attention(y, y, use_causal_mask=True)
        return x + self.down(self.up(self.b(x)))


class GPT(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.token, self.place = layers.Embedding(VOCAB, D), layers.Embedding(T, D)
        self.blocks = [Block() for _ in range(2)]
        self.head = layers.Dense(VOCAB)

    def call(self, ids):
        x = self.token(ids) + self.place(tf.range(T))
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model, adam = GPT(), tf.keras.optimizers.Adam(3e-4)
chunks = text[: len(text) // (T + 1) * (T + 1)].reshape(-1, T + 1)
ds = tf.data.Dataset.from_tensor_slices(chunks).shuffle(len(chunks)).repeat().batch(16, drop_remainder=True).prefetch(2)


@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        logits = model(batch[:, :-1], training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(batch[:, 1:], logits))
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    adam.apply_gradients(zip(grads, model.trainable_variables, strict=False))
    return loss


for i, batch in enumerate(ds.take(70)):
    loss = step(batch)
    if i % 20 == 0:
        tf.print("step", i, "loss", loss)
