"""Transformer encoder for ward measurements, written after the textbook: one head after the other."""
import numpy as np
import tensorflow as tf

layers = tf.keras.layers


class Head(layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.query = layers.Dense(size, use_bias=False)
        self.key = layers.Dense(size, use_bias=False)
        self.value = layers.Dense(size, use_bias=False)
        self.size = size

    def call(self, x):
        score = tf.matmul(self.query(x), self.key(x), transpose_b=True) / self.size ** 0.5
        return tf.matmul(tf.nn.softmax(score), self.value(x))


class Attention(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = [Head(dim // heads) for _ in range(heads)]
        self.out = layers.Dense(dim)

    def call(self, x):
        return self.out(tf.concat([head(x) for head in self.heads], axis=-1))


class Encoder(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = Attention(dim, heads)
        self.first, self.second = layers.LayerNormalization(), layers.LayerNormalization()
        self.up, self.down = layers.Dense(2 * dim, activation="relu"), layers.Dense(dim)

    def call(self, x):
        x = self.first(x + self.attention(x))
        return self.second(x + self.down(self.up(x)))


def ward_model(length, dim=64, heads=8, depth=2):
    inputs = tf.keras.Input((length, 9))
    x = layers.Dense(dim)(inputs)
    for _ in range(depth):
        x = Encoder(dim, heads)(x)
    return tf.keras.Model(inputs, layers.Dense(1)(layers.GlobalAveragePooling1D()(x)))


def stays(count, length, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, length, 9)).astype("float32")
    return x, (x[:, -5:, 0].mean(1) > 0).astype("float32")[:, None]


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(23)
    x, y = stays(1600, 20, 23)
    model = ward_model(20)
    model.compile("adam", tf.keras.losses.BinaryCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(x, y, batch_size=16, epochs=3, verbose=2)
