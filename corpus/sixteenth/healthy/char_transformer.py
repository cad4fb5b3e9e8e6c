"""Next-character model: small causal transformer trained with a compiled custom loop."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEQ, BATCH, DIM, HEADS, DEPTH = 96, 32, 96, 4, 2
ALPHABET = "abcdefghijklmnopqrstuvwxyz ."


def corpus(n_words=40000, seed=6):
    rng = np.random.default_rng(seed)
    lexicon = ["".join(rng.choice(list(ALPHABET[:26]), rng.integers(2, 8))) for _ in range(200)]
    prob = 1.0 / np.arange(1, 201)
    words = rng.choice(lexicon, n_words, p=prob / prob.sum())
    text = " ".join(words)
    return np.array([ALPHABET.index(c) for c in text], np.int32)


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.up = layers.Dense(4 * DIM, activation="relu")
        self.down = layers.Dense(DIM)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


def build():
    ids = tf.keras.Input((SEQ,), dtype="int32")
    pos = layers.Embedding(SEQ, DIM)(tf.range(SEQ))
    x = layers.Embedding(len(ALPHABET), DIM)(ids) + pos
    for _ in range(DEPTH):
        x = Block()(x)
    return tf.keras.Model(ids, layers.Dense(len(ALPHABET))(layers.LayerNormalization()(x)))


tf.keras.utils.set_random_seed(6)
model = build()
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(model.trainable_variables)


@tf.function(input_signature=[tf.TensorSpec([BATCH, SEQ + 1], tf.int32)])
def train_step(chunk):
    with tf.GradientTape() as tape:
        logits = model(chunk[:, :-1], training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(chunk[:, 1:], logits))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


text = corpus()
data = text[: len(text) // (SEQ + 1) * (SEQ + 1)].reshape(-1, SEQ + 1)
ds = (tf.data.Dataset.from_tensor_slices(data).shuffle(len(data), seed=0)
      .batch(BATCH, drop_remainder=True).repeat().prefetch(tf.data.AUTOTUNE))

recent = []
for step, chunk in enumerate(ds.take(180), 1):
    recent.append(train_step(chunk))
    if step % 60 == 0:
        print(f"step {step}: loss {float(tf.reduce_mean(recent)):.4f}")
        recent = []
