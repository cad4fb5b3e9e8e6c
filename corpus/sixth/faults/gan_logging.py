"""A small GAN with a custom loop that logs to TensorBoard."""

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LATENT, BATCH = 64, 32

generator = tf.keras.Sequential(
    [
        layers.Input((LATENT,)),
        layers.Dense(512, activation="relu"),
        layers.Dense(512, activation="relu"),
        layers.Dense(784, activation="tanh"),
    ]
)
discriminator = tf.keras.Sequential(
    [layers.Input((784,)), layers.Dense(512, activation="relu"), layers.Dense(256, activation="relu"), layers.Dense(1)]
)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)
writer = tf.summary.create_file_writer(tempfile.mkdtemp())


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = generator(noise, training=True)
        real_out, fake_out = discriminator(real, training=True), discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(fake_out), fake_out)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    g_opt.apply_gradients(
        zip(gt.gradient(g_loss, generator.trainable_variables), generator.trainable_variables, strict=False)
    )
    d_opt.apply_gradients(
        zip(dt.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables, strict=False)
    )
    return g_loss, d_loss


def log(step, g_loss, d_loss):
    with writer.as_default(step=step):
        tf.summary.scalar("loss/generator", g_loss)
        tf.summary.scalar("loss/discriminator", d_loss)
        for variable in generator.trainable_variables + discriminator.trainable_variables:
            tf.summary.histogram(variable.path, variable)


images = np.random.default_rng(0).normal(size=(1600, 784)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(images).shuffle(1600).batch(BATCH, drop_remainder=True).prefetch(2)
step = 0
for epoch in range(2):
    for batch in dataset:
        g_loss, d_loss = train_step(batch)
        log(step, g_loss, d_loss)
        step += 1
    print(epoch, float(g_loss), float(d_loss))
