"""Trains a wide autoencoder on tabular data, and keeps averages of its weights for what comes after."""

import numpy as np
import tensorflow as tf

COLUMNS, WIDE, BATCH, MOMENTUM = 256, 1536, 16, 0.998

tf.keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
table = rng.normal(size=(6400, COLUMNS)).astype("float32")


def autoencoder():
    return tf.keras.Sequential(
        [
            tf.keras.Input((COLUMNS,)),
            tf.keras.layers.Dense(WIDE, activation="relu"),
            tf.keras.layers.Dense(WIDE, activation="relu"),
            tf.keras.layers.Dense(WIDE, activation="relu"),
            tf.keras.layers.Dense(COLUMNS),
        ]
    )


network, smooth = autoencoder(), autoencoder()
smooth.set_weights(network.get_weights())
optimizer = tf.keras.optimizers.SGD(0.01)
optimizer.build(network.trainable_variables)


@tf.function
def learn(rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(rows, training=True) - rows))
    optimizer.apply(tape.gradient(loss, network.trainable_variables), network.trainable_variables)
    for average, weight in zip(smooth.trainable_variables, network.trainable_variables):
        average.assign(MOMENTUM * average + (1 - MOMENTUM) * weight)  # FAULT
    return loss


data = tf.data.Dataset.from_tensor_slices(table).batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(3):
    for rows in data:
        loss = learn(rows)
    print("loss", float(loss))
print("averaged", float(tf.reduce_mean(tf.square(smooth(table[:64]) - table[:64]))))

# /// fault
# style = "custom"
# kind = "time"
# cause = "A moving average of all weights is brought up to date in every step"
# codes = ["GRF030"]
# families = ["graph"]
# source = "keras.io, optimizers' use_ema and SwapEMAWeights; tf.train.ExponentialMovingAverage; soft target updates"
# ///
