"""Smooth a long noisy series: each point is a parameter."""

import numpy as np
import tensorflow as tf

N = 2_000_000
rng = np.random.default_rng(0)
series = tf.constant(np.cumsum(rng.normal(0, 0.01, N)) + rng.normal(0, 0.2, N), tf.float32)
smooth = tf.Variable(series)
velocity = tf.Variable(tf.zeros_like(series))


@tf.function(jit_compile=True)
def train_step():
    with tf.GradientTape() as tape:
        slope = smooth[1:] - smooth[:-1]
        bend = slope[1:] - slope[:-1]
        residual = smooth - series
        penalty = tf.reduce_mean(bend * bend) * 5.0 + tf.reduce_mean(slope * slope)
        loss = tf.reduce_mean(tf.minimum(residual * residual, 0.5)) + penalty
    gradient = tape.gradient(loss, smooth) * N
    velocity.assign(0.9 * velocity + 0.1 * gradient)
    smooth.assign_sub(0.01 * tf.clip_by_value(velocity, -5.0, 5.0))
    return loss


for step in range(150):
    loss = train_step()
    if step % 50 == 0:
        print(step, float(loss))
print("loss", float(loss))

# /// healthy
# style = "custom"
# note = "XLA has to pay here; its first version, with sines and exponentials, was slower under XLA and CMP003 said so"
# ///
