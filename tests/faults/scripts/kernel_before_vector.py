"""Kernel regression on random features: the kernel of all rows, times the weights of the rows."""

import numpy as np
import tensorflow as tf

ROWS, INPUTS, FEATURES = 2000, 10, 64


def features(rows, frequencies, phases):
    return tf.cos(rows @ frequencies + phases) * np.sqrt(2.0 / FEATURES)


def predicted(rows, alpha, frequencies, phases):
    mapped = features(rows, frequencies, phases)
    kernel = tf.matmul(mapped, mapped, transpose_b=True)  # FAULT
    return tf.linalg.matvec(kernel, alpha)  # FAULT


tf.random.set_seed(4)
rng = np.random.default_rng(4)
rows = tf.constant(rng.normal(size=(ROWS, INPUTS)).astype("float32"))
target = tf.reduce_sum(tf.sin(rows), 1)
frequencies = tf.Variable(tf.random.normal([INPUTS, FEATURES]), name="frequencies")
phases = tf.constant(rng.uniform(0, 2 * np.pi, FEATURES).astype("float32"))
alpha = tf.Variable(tf.zeros([ROWS]), name="alpha")
optimizer = tf.keras.optimizers.SGD(0.001)


@tf.function
def train_step(rows, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(predicted(rows, alpha, frequencies, phases) - target))
    grads = tape.gradient(loss, [alpha, frequencies])
    optimizer.apply_gradients(zip(grads, [alpha, frequencies]))
    return loss


for turn in range(150):
    loss = train_step(rows, target)
print(f"loss {float(loss):.3f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "A kernel matrix of all rows is made only to be multiplied by a vector"
# codes = ["GRF011"]
# families = ["graph"]
# source = "Katharopoulos et al. 2020 (linear attention: the order of the products); Stack Overflow questions on slow chained tf.matmul"
# ///
