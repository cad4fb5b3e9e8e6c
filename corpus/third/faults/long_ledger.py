"""Linear attention over long ledgers: mark the entries that belong together."""
import numpy as np
import tensorflow as tf


class LinearAttention(tf.keras.layers.Layer):
    """Attention with a feature map in place of the softmax (Katharopoulos et al.)."""

    def __init__(self, dim):
        super().__init__()
        self.q = tf.keras.layers.Dense(dim, use_bias=False)
        self.k = tf.keras.layers.Dense(dim, use_bias=False)
        self.v = tf.keras.layers.Dense(dim, use_bias=False)

    def call(self, x):
        q = tf.nn.elu(self.q(x)) + 1.0
        k = tf.nn.elu(self.k(x)) + 1.0
        scores = tf.matmul(q, k, transpose_b=True)
        mixed = tf.matmul(scores, self.v(x))
        return mixed / tf.reduce_sum(scores, axis=-1, keepdims=True)


class Block(tf.keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.attention = LinearAttention(dim)
        self.norm = tf.keras.layers.LayerNormalization()
        self.feed = tf.keras.Sequential([
            tf.keras.layers.Dense(2 * dim, activation="gelu"),
            tf.keras.layers.Dense(dim),
        ])

    def call(self, x):
        x = x + self.attention(x)
        return x + self.feed(self.norm(x))


def ledger_model(length, dim=24, depth=1):
    entries = tf.keras.Input((length, 5))
    x = tf.keras.layers.Dense(dim)(entries)
    for _ in range(depth):
        x = Block(dim)(x)
    marks = tf.keras.layers.Dense(1)(x)
    return tf.keras.Model(entries, marks)


def sample(batch, length, rng):
    entries = rng.normal(size=(batch, length, 5)).astype("float32")
    marks = (entries[..., 0] > entries[..., 0].mean(1, keepdims=True)).astype("float32")
    return entries, marks[..., None]


def run(steps=60, batch=2, length=3584):
    tf.keras.utils.set_random_seed(77)
    rng = np.random.default_rng(77)
    model = ledger_model(length)
    model.compile(tf.keras.optimizers.AdamW(1e-3), tf.keras.losses.BinaryCrossentropy(from_logits=True))
    x, y = sample(batch * steps, length, rng)
    model.fit(x, y, batch_size=batch, epochs=1, verbose=2)


if __name__ == "__main__":
    run()
