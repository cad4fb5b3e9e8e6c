"""Learns the next reading of each sensor of a plant, by a small network for each."""

import numpy as np
import tensorflow as tf

SENSORS, LONG, WIDE, BATCH, STEPS = 32, 24, 8, 64, 400

tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
readings = np.cumsum(rng.normal(scale=0.1, size=(3200, SENSORS, LONG + 1)), axis=2).astype("float32")
networks = [
    tf.keras.Sequential(
        [tf.keras.Input((LONG,)), tf.keras.layers.Dense(WIDE, activation="relu"), tf.keras.layers.Dense(1)]
    )
    for _ in range(SENSORS)
]
weights = [weight for network in networks for weight in network.trainable_variables]
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(weights)


@tf.function
def learn(past, following):
    with tf.GradientTape() as tape:
        guesses = [network(past[:, sensor], training=True) for sensor, network in enumerate(networks)]
        loss = tf.reduce_mean(tf.square(tf.concat(guesses, axis=1) - following))
    optimizer.apply(tape.gradient(loss, weights), weights)  # FAULT
    return loss


data = tf.data.Dataset.from_tensor_slices((readings[:, :, :LONG], readings[:, :, LONG]))
for step, batch in enumerate(data.shuffle(3200, seed=4).batch(BATCH, drop_remainder=True).repeat().take(STEPS), 1):
    loss = learn(*batch)
    if step % 100 == 0:
        print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "Adam updates the 128 small variables of many small networks one by one, with some thirty operations for each"
# codes = ["GRF032"]
# families = ["graph"]
# source = "Stack Overflow and GitHub questions on ensembles and multi-head models of many small layers that train slowly; the flat parameters of PyTorch's apex and of DeepSpeed; Keras' Adam.update_step"
# ///
