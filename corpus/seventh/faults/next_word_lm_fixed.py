"""Word-level language model (GRU) on a synthetic Zipfian corpus."""
import argparse
import math

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser(description="word level language model")
parser.add_argument("--vocab", type=int, default=12000)
parser.add_argument("--tokens", type=int, default=45000)
parser.add_argument("--seq-len", type=int, default=24)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--embed", type=int, default=96)
parser.add_argument("--hidden", type=int, default=96)
parser.add_argument("--samples", type=int, default=256, help="negatives of the sampled softmax")
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args()

tf.keras.utils.set_random_seed(1234)
rng = np.random.default_rng(1234)


def build_corpus():
    # first-order chain: each word prefers a handful of successors
    base = 1.0 / np.arange(1, args.vocab + 1) ** 1.05
    base /= base.sum()
    succ = rng.choice(args.vocab, size=(args.vocab, 4), p=base)
    ids = np.empty(args.tokens, dtype=np.int32)
    ids[0] = 0
    jump = rng.random(args.tokens) < 0.25
    fresh = rng.choice(args.vocab, size=args.tokens, p=base)
    pick = rng.integers(0, 4, args.tokens)
    for i in range(1, args.tokens):
        ids[i] = fresh[i] if jump[i] else succ[ids[i - 1], pick[i]]
    return ids


def windows(ids):
    n = (len(ids) - 1) // args.seq_len
    x = ids[: n * args.seq_len].reshape(n, args.seq_len)
    y = ids[1 : n * args.seq_len + 1].reshape(n, args.seq_len)
    return x, y


class WordModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.project = tf.keras.layers.Embedding(args.vocab, args.embed, name="word_vectors")
        self.rnn = tf.keras.layers.GRU(args.hidden, return_sequences=True)
        self.out_w = self.add_weight(shape=(args.vocab, args.hidden), name="out_w")
        self.out_b = self.add_weight(shape=(args.vocab,), initializer="zeros", name="out_b")

    def call(self, tokens):
        x = self.project(tokens)
        return self.rnn(x)


model = WordModel()
optimizer = tf.keras.optimizers.SGD(0.5)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        h = tf.reshape(model(x, training=True), [-1, args.hidden])
        labels = tf.cast(tf.reshape(y, [-1, 1]), tf.int64)
        loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(
            tf.convert_to_tensor(model.out_w), tf.convert_to_tensor(model.out_b),
            labels, h, args.samples, args.vocab))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def eval_step(x, y):
    h = model(x, training=False)
    logits = tf.tensordot(h, model.out_w, [[2], [1]]) + model.out_b
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))


x_all, y_all = windows(build_corpus())
n_val = 64
train_ds = (tf.data.Dataset.from_tensor_slices((x_all[n_val:], y_all[n_val:]))
            .shuffle(4096, seed=1).batch(args.batch, drop_remainder=True).prefetch(2))
val_ds = tf.data.Dataset.from_tensor_slices((x_all[:n_val], y_all[:n_val])).batch(16)

model(x_all[:1])
print(f"{len(x_all)} windows, {model.count_params():,} parameters")
for epoch in range(args.epochs):
    total, steps = tf.constant(0.0), 0
    for x, y in train_ds:
        total += train_step(x, y)
        steps += 1
    val = np.mean([eval_step(x, y).numpy() for x, y in val_ds])
    print(f"epoch {epoch + 1}: loss {total.numpy() / steps:.3f}  val ppl {math.exp(min(val, 20)):.1f}")
