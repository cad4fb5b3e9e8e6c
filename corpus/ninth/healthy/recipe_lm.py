"""Small causal language model over synthetic recipe steps, custom training loop."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VOCAB, LENGTH, WIDTH, HEADS = 800, 64, 96, 4


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    follow = rng.integers(0, VOCAB, (VOCAB, 4))
    text = np.empty((n, LENGTH + 1), "int32")
    text[:, 0] = rng.integers(0, VOCAB, n)
    for t in range(LENGTH):
        text[:, t + 1] = follow[text[:, t], rng.integers(0, 4, n)]
    return text


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.att = layers.MultiHeadAttention(HEADS, WIDTH // HEADS)
        self.ff1 = layers.Dense(4 * WIDTH, activation="relu")
        self.ff2 = layers.Dense(WIDTH)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.ff2(self.ff1(self.n2(x)))


class RecipeLM(keras.Model):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, WIDTH)
        self.pos = layers.Embedding(LENGTH, WIDTH)
        self.blocks = [Block() for _ in range(2)]
        self.out = layers.Dense(VOCAB)

    def call(self, tokens):
        x = self.tok(tokens) + self.pos(tf.range(tf.shape(tokens)[1]))
        for b in self.blocks:
            x = b(x)
        return self.out(x)


def main():
    keras.utils.set_random_seed(6)
    data = corpus(3200, 6)
    ds = (tf.data.Dataset.from_tensor_slices((data[:, :-1], data[:, 1:]))
          .shuffle(3200, seed=6).batch(64, drop_remainder=True).prefetch(2))
    model = RecipeLM()
    model(tf.zeros([1, LENGTH], tf.int32))
    optimizer = keras.optimizers.AdamW(2e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    for epoch in range(2):
        losses = [step(x, y) for x, y in ds]
        print("epoch %d loss %.4f" % (epoch, float(tf.reduce_mean(losses))))


if __name__ == "__main__":
    main()
