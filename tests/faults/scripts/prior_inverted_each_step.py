"""Fits weights with a Gaussian prior whose covariance is known; the loss inverts it in each step."""

import numpy as np
import tensorflow as tf

WEIGHTS, ROWS = 400, 256

rng = np.random.default_rng(14)
place = np.linspace(0.0, 1.0, WEIGHTS)
covariance = np.exp(-((place[:, None] - place[None]) ** 2) / 0.02) + 0.1 * np.eye(WEIGHTS)
covariance = tf.constant(covariance.astype("float32"))
weights = tf.Variable(tf.zeros([WEIGHTS, 1]))
optimizer = tf.keras.optimizers.SGD(0.001)
optimizer.build([weights])


def prior(weights):
    precision = tf.linalg.inv(covariance)  # FAULT
    return tf.reduce_sum(weights * (precision @ weights))


@tf.function
def train_step(rows, target):
    with tf.GradientTape() as tape:
        gap = rows @ weights - target
        loss = tf.reduce_mean(gap * gap) + prior(weights) / ROWS
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss


truth = rng.normal(size=(WEIGHTS, 1)).astype("float32")
batches = rng.normal(size=(8, ROWS, WEIGHTS)).astype("float32")
data = tf.data.Dataset.from_tensor_slices((batches, batches @ truth)).repeat().prefetch(2)
for batch, target in data.take(400):
    loss = train_step(batch, target)
print(f"loss {float(loss):.2f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "The loss inverts the known covariance of a prior in each compiled step"
# codes = ["GRF016", "GRF007"]
# families = ["graph"]
# source = "Stack Overflow questions on tf.linalg.inv of a constant matrix inside a training step"
# ///
