"""Wasserstein GAN with gradient penalty for two-dimensional rings."""
import numpy as np
import tensorflow as tf

keras = tf.keras
BATCH, NOISE = 256, 16


def ring_points(count, rng):
    angle = rng.uniform(0, 2 * np.pi, count)
    radius = rng.choice([1.0, 2.0], count) + rng.normal(scale=0.05, size=count)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).astype("float32")


def mlp(inputs, outputs, width=96):
    return keras.Sequential([
        keras.Input((inputs,)),
        keras.layers.Dense(width, activation="tanh"),
        keras.layers.Dense(width, activation="tanh"),
        keras.layers.Dense(outputs),
    ])


generator, critic = mlp(NOISE, 2), mlp(2, 1)
gen_opt = keras.optimizers.Adam(1e-4, beta_1=0.5)
critic_opt = keras.optimizers.Adam(1e-4, beta_1=0.5)


def penalty(real, fake):
    mix = tf.random.uniform([BATCH, 1])
    between = real * mix + fake * (1.0 - mix)
    with tf.GradientTape() as inner:
        inner.watch(between)
        scores = tf.squeeze(critic(between, training=True), 1)
    # examples do not depend on each other: the gradient of the sum has a row for each
    slopes = inner.gradient(scores, between)
    norms = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1) + 1e-12)
    return tf.reduce_mean(tf.square(norms - 1.0))


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal([BATCH, NOISE]), training=True)
    with tf.GradientTape() as tape:
        gap = tf.reduce_mean(critic(fake, training=True)) - tf.reduce_mean(critic(real, training=True))
        loss = gap + 10.0 * penalty(real, fake)
    weights = critic.trainable_variables
    critic_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return gap


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(generator(tf.random.normal([BATCH, NOISE])), training=True))
    weights = generator.trainable_variables
    gen_opt.apply_gradients(zip(tape.gradient(loss, weights), weights))


keras.utils.set_random_seed(0)
points = ring_points(20000, np.random.default_rng(4))
batches = iter(tf.data.Dataset.from_tensor_slices(points).shuffle(20000).repeat().batch(BATCH).prefetch(4))
for turn in range(50):
    for _ in range(3):
        distance = critic_step(next(batches))
    generator_step()
    if turn % 10 == 0:
        print(turn, "distance", round(-float(distance), 4))
