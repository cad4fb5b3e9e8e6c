"""Route support tickets to teams with a small transformer encoder (functional Keras)."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VOCAB, LENGTH, TEAMS = 5000, 64, 8
WIDTH, HEADS, DEPTH = 128, 4, 2


def tickets(n, seed):
    rng = np.random.default_rng(seed)
    team = rng.integers(0, TEAMS, n)
    ids = rng.integers(TEAMS * 40 + 1, VOCAB, (n, LENGTH))
    hint = rng.random((n, LENGTH)) < 0.08
    ids = np.where(hint, 1 + team[:, None] * 40 + rng.integers(0, 40, (n, LENGTH)), ids)
    return ids.astype("int32"), team.astype("int32")


class TokenAndPosition(layers.Layer):
    def __init__(self, vocab, length, width, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(vocab, width)
        self.pos = layers.Embedding(length, width)
        self.length = length

    def call(self, ids):
        return self.tok(ids) + self.pos(tf.range(self.length))


def encoder_block(x):
    a = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)(x, x)
    x = layers.LayerNormalization()(x + layers.Dropout(0.1)(a))
    f = layers.Dense(4 * WIDTH, activation="relu")(x)
    f = layers.Dense(WIDTH)(f)
    return layers.LayerNormalization()(x + layers.Dropout(0.1)(f))


def build():
    inp = layers.Input((LENGTH,), dtype="int32")
    x = TokenAndPosition(VOCAB, LENGTH, WIDTH)(inp)
    for _ in range(DEPTH):
        x = encoder_block(x)
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inp, layers.Dense(TEAMS)(x))


if __name__ == "__main__":
    keras.utils.set_random_seed(6)
    x, y = tickets(4096, 0)
    xv, yv = tickets(512, 1)
    model = build()
    model.compile(
        keras.optimizers.Adam(5e-4),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    model.fit(x, y, batch_size=64, epochs=2, validation_data=(xv, yv), verbose=2)
    print("held-out accuracy %.3f" % model.evaluate(xv, yv, batch_size=256, verbose=0)[1])
