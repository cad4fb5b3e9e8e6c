import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

BATCH, NOISE = 8, 24


def build_generator():
    return tf.keras.Sequential(
        [
            layers.Input((NOISE,)),
            layers.Dense(4 * 4 * 16, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((4, 4, 16)),
            layers.Conv2DTranspose(8, 4, strides=2, padding="same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
        ]
    )


def build_discriminator():
    return tf.keras.Sequential(
        [
            layers.Input((16, 16, 1)),
            layers.Conv2D(8, 4, strides=2, padding="same"),
            layers.LeakyReLU(),
            layers.Dropout(0.3),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


class Gan:
    def __init__(self):
        self.generator, self.discriminator = build_generator(), build_discriminator()
        self.g_optimizer = tf.keras.optimizers.Adam(2e-4, 0.5)
        self.d_optimizer = tf.keras.optimizers.Adam(2e-4, 0.5)
        self.loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)

    def step(self, images):  # FAULT
        noise = tf.random.normal((BATCH, NOISE))
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fakes = self.generator(noise, training=True)  # FAULT
            real, fake = self.discriminator(images, training=True), self.discriminator(fakes, training=True)  # FAULT
            g_loss = self.loss(tf.ones_like(fake), fake)
            d_loss = self.loss(tf.ones_like(real), real) + self.loss(tf.zeros_like(fake), fake)
        g_vars, d_vars = self.generator.trainable_variables, self.discriminator.trainable_variables
        self.g_optimizer.apply_gradients(zip(g_tape.gradient(g_loss, g_vars), g_vars))  # FAULT
        self.d_optimizer.apply_gradients(zip(d_tape.gradient(d_loss, d_vars), d_vars))  # FAULT
        return g_loss, d_loss


data = tf.data.Dataset.from_tensor_slices(np.random.rand(480, 16, 16, 1).astype("float32") * 2 - 1)
gan = Gan()
for epoch in range(2):
    start = time.time()
    for images in data.shuffle(480).batch(BATCH, drop_remainder=True):
        g_loss, d_loss = gan.step(images)  # FAULT
    print(f"epoch {epoch} g={g_loss:.3f} d={d_loss:.3f} ({time.time() - start:.1f} s)")

# /// fault
# style = "gan"
# kind = "time"
# cause = "Both updates of the GAN run operation by operation"
# codes = ["EAG001"]
# families = ["eager"]
# source = "Stack Overflow questions on a slow DCGAN tutorial once the decorator is gone; GitHub, tensorflow/tensorflow #30596"
# ///
