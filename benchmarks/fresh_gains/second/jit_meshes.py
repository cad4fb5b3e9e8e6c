"""Trains a point network on meshes of many sizes, the step compiled by XLA."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(64, activation="relu")]
)
model.build((None, 3))
head = tf.keras.layers.Dense(1)
head.build((None, 64))
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables + head.trainable_variables)
meshes = [(rng.normal(size=(n, 3)).astype("float32"), np.float32(n % 3)) for n in rng.permutation(np.arange(200, 330))]


def loss_of(points, target):
    pooled = tf.reduce_max(model(points), axis=0, keepdims=True)
    return tf.reduce_mean((head(pooled) - target) ** 2)


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([])])
def train(points, target):
    with tf.GradientTape() as tape:
        loss = loss_of(points, target)
    weights = model.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


for epoch in range(2):
    for points, target in meshes:
        loss = train(points, target)
    print(epoch, float(loss))
