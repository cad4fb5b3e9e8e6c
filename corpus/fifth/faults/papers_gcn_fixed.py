"""Semi-supervised node classification on a citation graph (GCN, two layers)."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

NODES, FEATURES, CLASSES, LINKS = 6000, 128, 7, 24_000

rng = np.random.default_rng(2)
label = rng.integers(0, CLASSES, NODES)
x = (rng.standard_normal((NODES, FEATURES)) + np.eye(CLASSES, FEATURES)[label]).astype("float32")
src, dst = rng.integers(0, NODES, (2, LINKS))


def normalised(src, dst):
    pairs = np.unique(
        np.concatenate([np.stack([src, dst], 1), np.stack([dst, src], 1), np.stack([np.arange(NODES)] * 2, 1)]), axis=0
    )
    degree = np.bincount(pairs[:, 0], minlength=NODES)
    weight = 1 / np.sqrt(degree[pairs[:, 0]] * degree[pairs[:, 1]])
    return pairs, weight.astype("float32")


pairs, weight = normalised(src, dst)
adjacency = tf.sparse.SparseTensor(pairs, weight, (NODES, NODES))


class GraphConv(keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.dense = keras.layers.Dense(units)
        self.activation = keras.activations.get(activation)

    def call(self, h):
        return self.activation(tf.sparse.sparse_dense_matmul(adjacency, self.dense(h)))


class GCN(keras.Model):
    def __init__(self):
        super().__init__()
        self.one = GraphConv(64, "relu")
        self.drop = keras.layers.Dropout(0.5)
        self.two = GraphConv(CLASSES)

    def call(self, h, training=False):
        return self.two(self.drop(self.one(h), training=training))


model = GCN()
optimizer = keras.optimizers.Adam(0.01)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
known = tf.constant(rng.permutation(NODES)[:700])
nodes, labels = tf.constant(x), tf.constant(label)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        logits = model(nodes, training=True)
        loss = loss_fn(tf.gather(labels, known), tf.gather(logits, known))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=False))
    return loss


began = time.perf_counter()
for epoch in range(150):
    loss = train_step()
    if epoch % 50 == 0:
        print(f"epoch {epoch} loss {loss.numpy():.4f}")
print(f"trained in {time.perf_counter() - began:.2f} s, loss {loss.numpy():.4f}")
