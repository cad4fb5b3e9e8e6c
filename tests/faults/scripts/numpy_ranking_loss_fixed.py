"""Metric learning with hard negatives."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, optimizers

encoder = Sequential(
    [
        layers.Input((40,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(64, activation="relu"),
        layers.Dense(16),
    ]
)
optimizer = optimizers.Adam(1e-3)
rng = np.random.default_rng(6)
points = rng.normal(size=(5000, 40)).astype(np.float32)
group = rng.integers(0, 10, 5000)


@tf.function
def train_step(x, labels):
    with tf.GradientTape() as tape:
        z = tf.math.l2_normalize(encoder(x, training=True), axis=1)
        distance = 2.0 - 2.0 * tf.stop_gradient(tf.matmul(z, z, transpose_b=True))
        same = labels[:, None] == labels[None, :]
        positive = tf.argmax(tf.where(same, distance, -1.0), axis=1)
        negative = tf.argmin(tf.where(same, 9.0, distance), axis=1)
        d_pos = tf.reduce_sum((z - tf.gather(z, positive)) ** 2, axis=1)
        d_neg = tf.reduce_sum((z - tf.gather(z, negative)) ** 2, axis=1)
        loss = tf.reduce_mean(tf.nn.relu(d_pos - d_neg + 0.2))
    grads = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))
    return loss


for step in range(160):
    rows = rng.choice(5000, 128, replace=False)
    loss = train_step(tf.constant(points[rows]), tf.constant(group[rows]))
    if step % 40 == 0:
        print("step", step, "loss", float(loss))
print("loss", float(loss))
