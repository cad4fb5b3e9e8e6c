"""Learn the constants of a pendulum from its path."""

import numpy as np
import tensorflow as tf

DT, STEPS = 0.02, 180
gravity = tf.Variable(8.0)
damping = tf.Variable(0.05)
optimizer = tf.keras.optimizers.Adam(0.05)


def simulate(angle, speed):
    positions = tf.TensorArray(tf.float32, size=STEPS)
    for i in tf.range(STEPS):
        pull = -gravity * tf.sin(angle) - damping * speed
        speed = speed + DT * pull
        angle = angle + DT * speed
        positions = positions.write(i, angle)
    return positions.stack()


@tf.function
def fit_step(angle, speed, observed):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((simulate(angle, speed) - observed) ** 2)
    variables = [gravity, damping]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


def observe(angle, speed):
    out = []
    for _ in range(STEPS):
        speed = speed + DT * (-9.81 * np.sin(angle) - 0.1 * speed)
        angle = angle + DT * speed
        out.append(angle)
    return np.array(out, dtype=np.float32)


start = np.linspace(0.2, 1.5, 64).astype(np.float32)
path = observe(start, np.zeros(64, np.float32))
for step in range(50):
    loss = fit_step(tf.constant(start), tf.zeros(64), tf.constant(path))
print("g =", float(gravity), "loss", float(loss))
