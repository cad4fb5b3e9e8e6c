"""Learn the constants of a pendulum from its path."""

import numpy as np
import tensorflow as tf

DT, STEPS = 0.02, 180
gravity = tf.Variable(8.0)
damping = tf.Variable(0.05)
optimizer = tf.keras.optimizers.Adam(0.05)


def simulate(angle, speed):
    positions = tf.TensorArray(tf.float32, size=STEPS)
    for i in range(STEPS):  # FAULT
        pull = -gravity * tf.sin(angle) - damping * speed  # FAULT
        speed = speed + DT * pull  # FAULT
        angle = angle + DT * speed  # FAULT
        positions = positions.write(i, angle)  # FAULT
    return positions.stack()


@tf.function
def fit_step(angle, speed, observed):  # FAULT
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

# /// fault
# style = "custom"
# kind = "time"
# cause = "A Python range() over the time steps is unrolled into the graph"
# codes = ["OPS001", "CMP004"]
# families = ["graph", "compile", "retrace"]
# source = "GitHub, tensorflow/tensorflow #38628 'Autograph unrolling for loop' (10 to 300 s for the first call)"
# note = "paid when tracing; the steady step does not gain"
# ///
