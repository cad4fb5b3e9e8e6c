"""Per-residue labelling of protein chains with a dilated convolution stack.

Chains have very different lengths, batches are formed from chains of similar length.
"""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

N_AA = 21


def sample_chains(n, rng):
    lengths = rng.integers(40, 400, n)
    motif = rng.integers(1, N_AA, (6, 5))
    chains, labels = [], []
    for length in lengths:
        seq = rng.integers(1, N_AA, length)
        lab = np.zeros(length, np.int32)
        for _ in range(length // 25):
            k, at = rng.integers(0, 6), rng.integers(0, length - 5)
            seq[at : at + 5] = motif[k]
            lab[at : at + 5] = 1 + k % 2
        chains.append(seq.astype(np.int32))
        labels.append(lab)
    return chains, labels


def batches_by_length(chains, labels, size, rng):
    order = np.argsort([len(c) for c in chains])
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    out = []
    for group in groups:
        longest = max(len(chains[i]) for i in group)
        x = np.zeros((len(group), longest), np.int32)
        y = np.zeros((len(group), longest), np.int32)
        for row, i in enumerate(group):
            x[row, : len(chains[i])] = chains[i]
            y[row, : len(chains[i])] = labels[i]
        out.append((x, y))
    rng.shuffle(out)
    return out


def make_network(filters=48, depth=3):
    inp = keras.Input((None,), dtype="int32")
    x = keras.layers.Embedding(N_AA, filters)(inp)
    for d in range(depth):
        y = keras.layers.Conv1D(filters, 5, padding="same", dilation_rate=2 ** d)(x)
        y = keras.layers.LayerNormalization()(y)
        x = keras.layers.Add()([x, keras.layers.Activation("gelu")(y)])
    return keras.Model(inp, keras.layers.Dense(3)(x))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(model.trainable_variables)

    @tf.function(reduce_retracing=True)
    def step(self, x, y):
        mask = tf.cast(x > 0, tf.float32)
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_sum(ce * mask) / tf.reduce_sum(mask)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chains", type=int, default=176)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    chains, labels = sample_chains(args.chains, rng)
    n_val = args.chains // 10
    model = make_network()
    trainer = Trainer(model, args.lr)
    for epoch in range(args.epochs):
        t0 = time.time()
        losses = [float(trainer.step(tf.constant(x), tf.constant(y)))
                  for x, y in batches_by_length(chains[n_val:], labels[n_val:], args.batch, rng)]
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} [{len(losses)} steps, {time.time() - t0:.1f}s]")
    (x, y), = batches_by_length(chains[:n_val], labels[:n_val], n_val, rng)
    pred = tf.argmax(model(x), -1).numpy()
    hit = (pred == y)[(x > 0) & (y > 0)]
    print(f"site recall on {n_val} held-out chains: {hit.mean():.3f}")


if __name__ == "__main__":
    main()
