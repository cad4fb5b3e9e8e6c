"""A WGAN with gradient penalty on points of a ring."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
tf.random.set_seed(1)


def network(inputs, outputs):
    layers = [tf.keras.layers.Dense(48, activation="relu") for _ in range(3)]
    return tf.keras.Sequential([tf.keras.Input((inputs,)), *layers, tf.keras.layers.Dense(outputs)])


generator, critic = network(8, 2), network(2, 1)
for_generator, for_critic = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)


@tf.function
def train_step(real):
    size = tf.shape(real)[0]
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal((size, 8)))
        share = tf.random.uniform((size, 1))
        between = share * real + (1 - share) * fake
        with tf.GradientTape() as inner:
            inner.watch(between)
            rated = critic(between)
        slope = tf.norm(inner.gradient(rated, between), axis=1)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * tf.reduce_mean((slope - 1) ** 2)
    gradients = tape.gradient(loss, critic.trainable_variables)
    for_critic.apply_gradients(zip(gradients, critic.trainable_variables, strict=True))
    with tf.GradientTape() as tape:
        other = -tf.reduce_mean(critic(generator(tf.random.normal((size, 8)))))
    gradients = tape.gradient(other, generator.trainable_variables)
    for_generator.apply_gradients(zip(gradients, generator.trainable_variables, strict=True))
    return loss, other


angles = rng.uniform(0, 2 * np.pi, 64 * 150)
points = np.stack([np.cos(angles), np.sin(angles)], 1).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(points).shuffle(5000).batch(64)
for epoch in range(1):
    for batch in dataset:
        loss, other = train_step(batch)
    print(epoch, float(loss), float(other))
