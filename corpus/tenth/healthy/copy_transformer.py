"""A small decoder-only transformer trained on a delayed-copy task, custom training loop."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

VOCAB, SEQ, DIM, HEADS, DEPTH = 64, 48, 96, 4, 2
BATCH, STEPS = 64, 120

keras.utils.set_random_seed(31)


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.norm2 = layers.LayerNormalization()
        self.up = layers.Dense(4 * dim, activation="gelu")
        self.down = layers.Dense(dim)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class Decoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(VOCAB, DIM)
        self.positions = layers.Embedding(SEQ, DIM)
        self.blocks = [Block(DIM, HEADS) for _ in range(DEPTH)]
        self.norm = layers.LayerNormalization()
        self.head = layers.Dense(VOCAB)

    def call(self, ids):
        x = self.tokens(ids) + self.positions(tf.range(SEQ))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def sample_batches(n, rng):
    half = SEQ // 2
    first = rng.integers(1, VOCAB, (n, BATCH, half))
    seq = np.concatenate([first, first, np.zeros((n, BATCH, 1), int)], -1)
    return seq.astype("int32")


model = Decoder()
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.AdamW(2e-3)


@tf.function
def train_step(seq):
    inputs, targets = seq[:, :-1], seq[:, 1:]
    with tf.GradientTape() as tape:
        logits = model(inputs)
        loss = loss_fn(targets, logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def copy_accuracy(seq):
    half = SEQ // 2
    pred = tf.argmax(model(seq[:, :-1]), -1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(pred[:, half:-1] == seq[:, half + 1:-1], tf.float32))


def main():
    rng = np.random.default_rng(0)
    data = tf.data.Dataset.from_tensor_slices(sample_batches(STEPS, rng)).prefetch(2)
    model(tf.zeros((1, SEQ), tf.int32))
    optimizer.build(model.trainable_variables)
    running = keras.metrics.Mean()
    for step, seq in enumerate(data, 1):
        running.update_state(train_step(seq))
        if step % 40 == 0:
            print(f"step {step:4d}  loss {float(running.result()):.4f}")
            running.reset_state()
    test = tf.constant(sample_batches(1, rng)[0])
    print("copy accuracy %.3f" % float(copy_accuracy(test)))


if __name__ == "__main__":
    main()
