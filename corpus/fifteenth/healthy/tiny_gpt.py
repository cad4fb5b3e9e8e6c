# Character-level causal transformer on a made-up grammar; own training loop.
import numpy as np
import tensorflow as tf
import keras
from keras import layers

VOCAB, CTX, DIM, HEADS, DEPTH = 40, 96, 128, 4, 3
BATCH, STEPS = 24, 90

keras.utils.set_random_seed(6)


def make_text(n=200_000):
    rng = np.random.default_rng(0)
    words = [rng.integers(1, VOCAB, rng.integers(2, 8)) for _ in range(300)]
    picks = rng.zipf(1.3, n // 4) % len(words)
    return np.concatenate([np.append(words[k], 0) for k in picks])[:n].astype(np.int32)


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attention = layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.mlp = keras.Sequential([layers.Dense(4 * DIM, activation="relu"), layers.Dense(DIM)])

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attention(h, h, use_causal_mask=True)
        return x + self.mlp(self.norm2(x))


class GPT(keras.Model):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, DIM)
        self.pos = layers.Embedding(CTX, DIM)
        self.blocks = [Block() for _ in range(DEPTH)]
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(VOCAB)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(CTX))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


text = make_text()
model = GPT()
model(tf.zeros((1, CTX), tf.int32))
opt = keras.optimizers.AdamW(
    keras.optimizers.schedules.CosineDecay(1e-3, STEPS), weight_decay=0.01, clipnorm=1.0
)
opt.build(model.trainable_variables)


@tf.function
def train_step(chunk):
    with tf.GradientTape() as tape:
        logits = model(chunk[:, :-1], training=True)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(chunk[:, 1:], logits)
        )
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


rng = np.random.default_rng(5)
offsets = np.arange(CTX + 1)
for step in range(1, STEPS + 1):
    start = rng.integers(0, len(text) - CTX - 1, size=(BATCH, 1))
    loss = train_step(tf.constant(text[start + offsets]))
    if step % 30 == 0:
        print(f"step {step}: {float(loss):.4f}")
