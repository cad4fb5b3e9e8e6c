"""Sequence tagger with a small self-attention encoder, length-sorted minibatches."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

VOCAB, TAGS, DIM = 1200, 17, 48
BATCH, EPOCHS = 32, 6


def corpus(n=480, seed=0):
    """Random 'sentences'; the tag of a token depends on it and its left neighbour."""
    rng = np.random.default_rng(seed)
    sents, tags = [], []
    for _ in range(n):
        length = int(np.clip(rng.gamma(3.0, 11.0), 4, 110))
        s = rng.integers(1, VOCAB, size=length)
        left = np.concatenate([[0], s[:-1]])
        sents.append(s.astype("int32"))
        tags.append(((s + 3 * (left % 2)) % TAGS).astype("int32"))
    return sents, tags


def batches(sents, tags, rng):
    # neighbours in length go together so that little padding is needed
    order = np.argsort([len(s) for s in sents], kind="stable")
    groups = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    rng.shuffle(groups)
    for g in groups:
        width = max(len(sents[i]) for i in g)
        x = np.zeros((len(g), width), "int32")
        y = np.zeros((len(g), width), "int32")
        for row, i in enumerate(g):
            x[row, : len(sents[i])] = sents[i]
            y[row, : len(tags[i])] = tags[i]
        yield tf.constant(x), tf.constant(y)


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ln1 = layers.LayerNormalization()
        self.ln2 = layers.LayerNormalization()
        self.up = layers.Dense(dim * 2, activation="gelu")
        self.down = layers.Dense(dim)

    def call(self, x, keep):
        x = self.ln1(x + self.att(x, x, attention_mask=keep[:, None, :]))
        return self.ln2(x + self.down(self.up(x)))


class Tagger(keras.Model):
    def __init__(self):
        super().__init__()
        self.emb = layers.Embedding(VOCAB, DIM)
        self.conv = layers.Conv1D(DIM, 3, padding="causal")
        self.blocks = [Block(DIM, 4) for _ in range(2)]
        self.out = layers.Dense(TAGS)

    def call(self, tokens):
        keep = tf.not_equal(tokens, 0)
        h = self.conv(self.emb(tokens))
        for b in self.blocks:
            h = b(h, keep)
        return self.out(h)


keras.utils.set_random_seed(1)
model = Tagger()
model(tf.ones((2, 8), tf.int32))
opt = keras.optimizers.Adam(2e-3)
opt.build(model.trainable_variables)
seen_loss = keras.metrics.Mean()


@tf.function
def step(tokens, gold):
    mask = tf.cast(tokens != 0, tf.float32)
    with tf.GradientTape() as tape:
        logits = model(tokens)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(gold, logits)
        loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    seen_loss.update_state(loss)


if __name__ == "__main__":
    sents, tags = corpus()
    rng = np.random.default_rng(7)
    for epoch in range(EPOCHS):
        seen_loss.reset_state()
        for tokens, gold in batches(sents, tags, rng):
            step(tokens, gold)
        print("epoch", epoch, "loss", round(float(seen_loss.result()), 4))
