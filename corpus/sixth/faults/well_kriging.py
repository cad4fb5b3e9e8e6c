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
    inverse = tf.linalg.inv(kernel)
    fit = tf.matmul(depth, tf.matmul(inverse, depth), transpose_a=True)[0, 0]
    _, log_determinant = tf.linalg.slogdet(kernel)
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
