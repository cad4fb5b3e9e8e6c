# A small decoder-only transformer on artificial melodies, own training loop.
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(6)

VOCAB, LENGTH, WIDTH, HEADS, DEPTH = 64, 96, 96, 4, 3
BATCH, STEPS, REPORT = 32, 100, 25


def melodies(n):
    rng = np.random.default_rng(6)
    motif = rng.integers(0, VOCAB, (20, 12))
    which = rng.integers(0, 20, (n, LENGTH // 12 + 1))
    notes = motif[which].reshape(n, -1)[:, : LENGTH + 1]
    notes = (notes + rng.integers(0, 3, (n, 1))) % VOCAB
    return notes.astype(np.int32)


class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm1 = keras.layers.LayerNormalization()
        self.norm2 = keras.layers.LayerNormalization()
        self.attend = keras.layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        self.up = keras.layers.Dense(4 * WIDTH, activation="relu")
        self.down = keras.layers.Dense(WIDTH)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attend(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class Decoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.note = keras.layers.Embedding(VOCAB, WIDTH)
        self.place = keras.layers.Embedding(LENGTH, WIDTH)
        self.blocks = [Block() for _ in range(DEPTH)]
        self.norm = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(VOCAB)

    def call(self, ids):
        x = self.note(ids) + self.place(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


model = Decoder()
optimizer = keras.optimizers.Adam(1e-3, global_clipnorm=1.0)
mean_loss = keras.metrics.Mean()


@tf.function
def train_step(notes):
    with tf.GradientTape() as tape:
        logits = model(notes[:, :-1], training=True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(notes[:, 1:], logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    mean_loss.update_state(loss)


batches = (
    tf.data.Dataset.from_tensor_slices(melodies(4096))
    .shuffle(4096, seed=1)
    .repeat()
    .batch(BATCH, drop_remainder=True)
    .take(STEPS)
    .prefetch(2)
)
begin = time.perf_counter()
for step, notes in enumerate(batches, 1):
    train_step(notes)
    if step % REPORT == 0:
        print(f"step {step}  loss {float(mean_loss.result()):.3f}  {time.perf_counter() - begin:.1f} s")
        mean_loss.reset_state()
