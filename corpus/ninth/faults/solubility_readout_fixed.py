"""Solubility regression on small molecules: message passing plus sum readout (custom loop)."""
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
RNG = np.random.default_rng(2)

ATOM_FEATURES = 24
HIDDEN = 64


def make_batch(n_mol):
    sizes = RNG.integers(8, 34, n_mol)
    owner = np.repeat(np.arange(n_mol), sizes).astype("int32")
    n_atoms = int(sizes.sum())
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    src = np.arange(n_atoms)
    local = src - starts[owner]
    dst = starts[owner] + (local + 1) % sizes[owner]          # ring skeleton
    extra = starts[owner] + (local * 5 + 2) % sizes[owner]    # a few cross bonds
    edges = np.concatenate([np.stack([src, dst], 1), np.stack([src, extra], 1)]).astype("int32")
    feats = RNG.standard_normal((n_atoms, ATOM_FEATURES)).astype("float32")
    target = np.zeros(n_mol, "float32")
    np.add.at(target, owner, np.tanh(feats[:, 0]) * 0.3 + feats[:, 1] * feats[:, 2] * 0.1)
    return (tf.constant(feats), tf.constant(edges), tf.constant(owner),
            tf.constant(n_mol, tf.int32), tf.constant(target))


class SumReadout(tf.keras.layers.Layer):
    def call(self, atoms, owner, n_mol):
        return tf.math.unsorted_segment_sum(atoms, owner, n_mol)


class SolubilityNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inp = tf.keras.layers.Dense(HIDDEN, activation="relu")
        self.msgs = [tf.keras.layers.Dense(HIDDEN, activation="relu") for _ in range(2)]
        self.readout = SumReadout()
        self.head = tf.keras.layers.Dense(1)

    def call(self, feats, edges, owner, n_mol):
        h = self.inp(feats)
        for layer in self.msgs:
            sent = tf.gather(h, edges[:, 0])
            got = tf.math.unsorted_segment_sum(sent, edges[:, 1], tf.shape(h)[0])
            h = h + layer(got)
        pooled = self.readout(h, owner, n_mol)
        return self.head(pooled / 20.0)[:, 0]


net = SolubilityNet()
opt = tf.keras.optimizers.Adam(2e-3)
batches = [make_batch(1600) for _ in range(6)]
net(*batches[0][:4])
opt.build(net.trainable_variables)


@tf.function(reduce_retracing=True)
def train_step(feats, edges, owner, n_mol, target):
    with tf.GradientTape() as tape:
        pred = net(feats, edges, owner, n_mol)
        loss = tf.reduce_mean(tf.square(pred - target))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


for epoch in range(8):
    losses = [train_step(*b) for b in batches]
    print(f"epoch {epoch} mse {float(tf.add_n(losses)) / len(losses):.4f}")
