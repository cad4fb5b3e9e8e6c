"""Message passing on molecules of different sizes, one molecule a step, compiled with XLA."""

import numpy as np
import tensorflow as tf

LARGEST = 28
rng = np.random.default_rng(7)


def molecule():
    atoms = int(rng.integers(8, 28))
    features = rng.normal(size=(atoms, 16)).astype("float32")
    bonds = (rng.random((atoms, atoms)) < 0.1).astype("float32")
    features = np.pad(features, [(0, LARGEST - atoms), (0, 0)])
    bonds = np.pad(bonds, [(0, LARGEST - atoms)] * 2)
    mask = (np.arange(LARGEST) < atoms).astype("float32")[:, None]
    return tf.constant(features), tf.constant(bonds), tf.constant(mask), tf.constant(rng.normal(), tf.float32)


class MPNN(tf.keras.Model):
    def __init__(self, width=64, rounds=4):
        super().__init__()
        self.embed = tf.keras.layers.Dense(width)
        self.messages = [tf.keras.layers.Dense(width, activation="relu") for _ in range(rounds)]
        self.update = [tf.keras.layers.Dense(width, activation="tanh") for _ in range(rounds)]
        self.readout = tf.keras.layers.Dense(1)

    def call(self, atoms, bonds, mask):
        h = self.embed(atoms)
        for message, update in zip(self.messages, self.update, strict=False):
            m = tf.matmul(bonds, message(h))
            h = h + update(tf.concat([h, m], axis=-1))
        return self.readout(tf.reduce_sum(h * mask, axis=0, keepdims=True) / tf.reduce_sum(mask))[0, 0]


model = MPNN()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function(jit_compile=True, reduce_retracing=True)
def train_step(atoms, bonds, mask, target):
    with tf.GradientTape() as tape:
        loss = tf.square(model(atoms, bonds, mask) - target)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=False))
    return loss


molecules = [molecule() for _ in range(400)]
model(*molecules[0][:3])
optimizer.build(model.trainable_variables)
for epoch in range(3):
    total = 0.0
    for atoms, bonds, mask, target in molecules:
        total += float(train_step(atoms, bonds, mask, target))
    print(epoch, total / len(molecules))
