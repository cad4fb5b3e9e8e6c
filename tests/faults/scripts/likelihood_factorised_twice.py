"""Fits the covariance of returns of many shares: a few factors, and what each share has of its own."""

import numpy as np
import tensorflow as tf

SHARES, FACTORS, DAYS = 500, 6, 64

loadings = tf.Variable(tf.random.stateless_normal((SHARES, FACTORS), (1, 2)) * 0.1)
log_own = tf.Variable(tf.zeros((SHARES,)))
weights = [loadings, log_own]
optimizer = tf.keras.optimizers.Adam(1e-2)


@tf.function
def train_step(returns):
    with tf.GradientTape() as tape:
        covariance = tf.matmul(loadings, loadings, transpose_b=True) + tf.linalg.diag(tf.exp(log_own))
        away = tf.reduce_sum(returns * tf.linalg.solve(covariance, returns))  # FAULT
        _, log_determinant = tf.linalg.slogdet(covariance)
        loss = away / DAYS + log_determinant
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


rng = np.random.default_rng(0)
for step in range(150):
    loss = train_step(tf.constant(rng.normal(size=(SHARES, DAYS)), tf.float32))
    if step % 50 == 0:
        print(f"step {step}: {float(loss):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "The likelihood of returns solves with their covariance and takes its determinant apart, where one Cholesky factor gives both"
# codes = ["GRF025"]
# families = ["graph"]
# source = "Public code of Gaussian likelihoods in TensorFlow that calls tf.linalg.inv or solve and tf.linalg.slogdet on one covariance"
# ///
