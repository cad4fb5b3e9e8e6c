"""Total-variation denoising by gradient descent on the pixels."""

import numpy as np
import tensorflow as tf

SIZE = 1400
rng = np.random.default_rng(0)
clean = np.kron(rng.random((14, 14)), np.ones((100, 100)))
noisy = tf.constant(clean + rng.normal(0, 0.1, (SIZE, SIZE)), tf.float32)

image = tf.Variable(noisy)
velocity = tf.Variable(tf.zeros_like(noisy))
scale = tf.Variable(tf.zeros_like(noisy))


@tf.function  # FAULT
def train_step():  # FAULT
    with tf.GradientTape() as tape:
        dx = image[1:, :-1] - image[:-1, :-1]  # FAULT
        dy = image[:-1, 1:] - image[:-1, :-1]  # FAULT
        variation = tf.reduce_mean(tf.sqrt(dx * dx + dy * dy + 1e-4))  # FAULT
        difference = image - noisy  # FAULT
        huber = tf.minimum(tf.abs(difference), 0.2)  # FAULT
        fidelity = tf.reduce_mean(huber * (tf.abs(difference) - 0.5 * huber))  # FAULT
        loss = fidelity + 0.1 * variation
    gradient = tape.gradient(loss, image) * SIZE * SIZE  # FAULT
    velocity.assign(0.9 * velocity + 0.1 * gradient)  # FAULT
    scale.assign(0.99 * scale + 0.01 * gradient * gradient)  # FAULT
    step = 0.01 * velocity / (tf.sqrt(scale) + 1e-3)  # FAULT
    image.assign(tf.clip_by_value(image - step, 0.0, 1.0))  # FAULT
    return loss


for number in range(80):
    loss = train_step()
    if number % 20 == 0:
        print(f"step {number:4d} loss {loss:.5f}")
print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A long chain of cheap elementwise operations runs one by one over a large image"
# codes = ["CMP002"]
# families = ["compile"]
# source = "tensorflow.org guide on XLA (fusion of elementwise operations)"
# ///
