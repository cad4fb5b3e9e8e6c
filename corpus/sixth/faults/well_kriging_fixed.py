"""Gaussian-process regression of well depths: the kernel's parameters by maximum likelihood."""

import numpy as np
import tensorflow as tf

N = 900
rng = np.random.default_rng(2)
places = tf.constant(rng.uniform(0, 10, (N, 2)), tf.float64)
depth = tf.constant(np.sin(places[:, :1]) + 0.1 * rng.normal(size=(N, 1)), tf.float64)

log_length = tf.Variable(0.0, dtype=tf.float64)
log_scale = tf.Variable(0.0, dtype=tf.float64)
log_noise = tf.Variable(-1.0, dtype=tf.float64)
parameters = [log_length, log_scale, log_noise]
optimizer = tf.keras.optimizers.Adam(0.05)
squared = tf.reduce_sum((places[:, None] - places[None]) ** 2, -1)


def negative_log_likelihood():
    kernel = tf.exp(log_scale) * tf.exp(-0.5 * squared / tf.exp(2 * log_length))
    kernel += tf.exp(log_noise) * tf.eye(N, dtype=tf.float64)
    factor = tf.linalg.cholesky(kernel)
    fit = tf.reduce_sum(tf.linalg.triangular_solve(factor, depth) ** 2)
    log_determinant = 2 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(factor)))
    return 0.5 * (fit + log_determinant + N * np.log(2 * np.pi))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = negative_log_likelihood()
    optimizer.apply_gradients(zip(tape.gradient(loss, parameters), parameters, strict=False))
    return loss


for step in range(100):
    loss = train_step()
    if step % 10 == 0:
        print(step, float(loss), float(tf.exp(log_length)))
