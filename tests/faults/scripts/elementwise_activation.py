"""Fit a sum of damped waves to a large noisy signal."""
import numpy as np
import tensorflow as tf

N, WAVES = 400_000, 6
t = tf.linspace(0.0, 10.0, N)
true = np.exp(-0.2 * t) * np.sin(2.5 * t) + 0.5 * np.exp(-0.1 * t) * np.cos(4.0 * t)
signal = tf.constant(true + np.random.default_rng(0).normal(0, 0.05, N), tf.float32)

amplitude = tf.Variable(tf.random.stateless_uniform((WAVES,), (1, 1)))
decay = tf.Variable(tf.random.stateless_uniform((WAVES,), (1, 2)) * 0.3)
frequency = tf.Variable(tf.random.stateless_uniform((WAVES,), (1, 3)) * 5.0)
phase = tf.Variable(tf.zeros(WAVES))
parameters = [amplitude, decay, frequency, phase]
optimizer = tf.keras.optimizers.Adam(0.02)
optimizer.build(parameters)


@tf.function  # FAULT
def train_step():  # FAULT
    with tf.GradientTape() as tape:
        total = tf.zeros_like(signal)
        for k in range(WAVES):
            envelope = amplitude[k] * tf.exp(-tf.nn.softplus(decay[k]) * t)  # FAULT
            total += envelope * tf.sin(frequency[k] * t + phase[k])  # FAULT
        error = total - signal  # FAULT
        loss = tf.reduce_mean(tf.sqrt(error * error + 1e-3) + 0.01 * tf.abs(total))  # FAULT
    gradients = tape.gradient(loss, parameters)
    optimizer.apply_gradients(zip(gradients, parameters))
    return loss


for step in range(120):
    loss = train_step()
    if step % 40 == 0:
        print(f"step {step:4d} loss {loss:.5f}")
print("loss", float(loss))
