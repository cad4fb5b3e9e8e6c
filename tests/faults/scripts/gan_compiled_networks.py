"""A small GAN whose networks are compiled functions of their own."""

import tensorflow as tf
from tensorflow.keras import layers

BATCH, NOISE = 256, 64
gen = tf.keras.Sequential(
    [
        layers.Input((NOISE,)),
        layers.Dense(512, activation="relu"),
        layers.Dense(512, activation="relu"),
        layers.Dense(784, activation="tanh"),
    ]
)
disc = tf.keras.Sequential(
    [
        layers.Input((784,)),
        layers.Dense(512, activation="relu"),
        layers.Dense(256, activation="relu"),
        layers.Dense(1),
    ]
)
gen_opt, disc_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def draw(noise):
    return gen(noise, training=True)


@tf.function
def judge(pictures):
    return disc(pictures, training=True)


def losses(images):
    fake = draw(tf.random.normal((BATCH, NOISE)))  # FAULT
    real_score = judge(images)  # FAULT
    fake_score = judge(fake)  # FAULT
    g_loss = bce(tf.ones_like(fake_score), fake_score)
    d_loss = bce(tf.ones_like(real_score), real_score) + bce(tf.zeros_like(fake_score), fake_score)
    return g_loss, d_loss


@tf.function
def train_step(images):
    with tf.GradientTape() as tape:
        g_loss, _ = losses(images)  # FAULT
    g_grads = tape.gradient(g_loss, gen.trainable_variables)
    with tf.GradientTape() as tape:
        _, d_loss = losses(images)  # FAULT
    d_grads = tape.gradient(d_loss, disc.trainable_variables)
    gen_opt.apply_gradients(zip(g_grads, gen.trainable_variables))
    disc_opt.apply_gradients(zip(d_grads, disc.trainable_variables))
    return g_loss, d_loss


pictures = tf.random.uniform((5120, 784), -1, 1)
data = tf.data.Dataset.from_tensor_slices(pictures).batch(BATCH, drop_remainder=True).cache().prefetch(2)
for epoch in range(6):
    for images in data:
        g_loss, d_loss = train_step(images)
print("generator", float(g_loss), "discriminator", float(d_loss))

# /// fault
# style = "gan"
# kind = "time"
# cause = "Two updates each run their own forward pass of networks that are tf.functions of their own, though one would do"
# codes = ["GRF001"]
# families = ["graph"]
# source = "a workshop's compiled GAN, whose networks are tf.functions that its compiled step calls"
# note = "the step gains about 1.2, as gan_two_passes"
# ///
