"""Learns the state of a beam from gauges, and that the state hardly changes with a gauge's noise."""

import numpy as np
import tensorflow as tf

GAUGES, STATES, BATCH, WEIGHT = 48, 8, 48, 1e-3

random = np.random.default_rng(3)
states = random.normal(size=(4800, STATES)).astype("float32")
readings = np.tanh(states @ random.normal(size=(STATES, GAUGES))).astype("float32")
readings += random.normal(0, 0.05, readings.shape).astype("float32")

network = tf.keras.Sequential(
    [tf.keras.Input((GAUGES,)), tf.keras.layers.Dense(96, "tanh"), tf.keras.layers.Dense(STATES)]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def fit_batch(x, y):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(x)
            guess = network(x, training=True)
        slopes = inner.jacobian(guess, x)  # FAULT
        loss = tf.reduce_mean(tf.square(guess - y)) + WEIGHT * tf.reduce_sum(tf.square(slopes)) / BATCH
    gradients = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(gradients, network.trainable_variables))
    return loss


batches = tf.data.Dataset.from_tensor_slices((readings, states)).batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(3):
    for x, y in batches:
        loss = fit_batch(x, y)
    print(f"epoch {epoch}: {float(loss):.4f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "A penalty adds up the squares of the whole batch's jacobian by the whole batch, which is zero where examples differ"
# codes = ["GRF020"]
# families = ["graph"]
# source = "Public contractive autoencoders and jacobian penalties in TensorFlow with tape.jacobian; the guide 'Advanced automatic differentiation' on batch_jacobian"
# ///
