"""Trains a wide autoencoder on tabular data, and keeps averages of its weights, brought up to date now and then."""

import numpy as np
import tensorflow as tf

COLUMNS, WIDE, BATCH, MOMENTUM, EACH = 256, 1536, 16, 0.998, 10

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
    return loss


@tf.function
def follow():
    for average, weight in zip(smooth.trainable_variables, network.trainable_variables):
        average.assign(MOMENTUM**EACH * average + (1 - MOMENTUM**EACH) * weight)


data = tf.data.Dataset.from_tensor_slices(table).batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(3):
    for step, rows in enumerate(data, 1):
        loss = learn(rows)
        if step % EACH == 0:
            follow()
    print("loss", float(loss))
print("averaged", float(tf.reduce_mean(tf.square(smooth(table[:64]) - table[:64]))))
