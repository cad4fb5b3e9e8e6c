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


def train_step(x, labels):  # FAULT
    with tf.GradientTape() as tape:
        z = tf.math.l2_normalize(encoder(x, training=True), axis=1)
        vectors = z.numpy()  # FAULT
        positive, negative = [], []
        for i in range(len(vectors)):  # FAULT
            distance = np.sum((vectors - vectors[i]) ** 2, axis=1)  # FAULT
            same = labels == labels[i]  # FAULT
            positive.append(np.argmax(np.where(same, distance, -1.0)))  # FAULT
            negative.append(np.argmin(np.where(same, 9.0, distance)))  # FAULT
        d_pos = tf.reduce_sum((z - tf.gather(z, positive)) ** 2, axis=1)
        d_neg = tf.reduce_sum((z - tf.gather(z, negative)) ** 2, axis=1)
        loss = tf.reduce_mean(tf.nn.relu(d_pos - d_neg + 0.2))
    grads = tape.gradient(loss, encoder.trainable_variables)  # FAULT
    optimizer.apply_gradients(zip(grads, encoder.trainable_variables))  # FAULT
    return loss


for step in range(160):
    rows = rng.choice(5000, 128, replace=False)
    loss = train_step(points[rows], group[rows])
    if step % 40 == 0:
        print("step", step, "loss", float(loss))
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The negatives are mined with NumPy between the forward and the backward pass, which keeps the step out of a graph"
# codes = ["EAG002", "EAG001", "LIN001"]
# families = ["eager"]
# source = "Stack Overflow questions on .numpy() in a training step; class 'efficient API not used' of arXiv 2112.01771"
# renamed = true
# ///
