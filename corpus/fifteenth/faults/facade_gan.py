# Paired image-to-image translation (edges -> texture) with a small pix2pix.
import time

import numpy as np
import tensorflow as tf

IMG = 32
BATCH = 16
EPOCHS = 16
N = 320


def make_pairs(n, seed=3):
    rng = np.random.RandomState(seed)
    src = np.zeros((n, IMG, IMG, 1), np.float32)
    dst = np.zeros((n, IMG, IMG, 3), np.float32)
    for i in range(n):
        y, x, h, w = rng.randint(2, 14, size=4)
        src[i, y : y + h, x : x + w] = 1.0
        dst[i] = rng.uniform(-0.2, 0.2)
        dst[i, y : y + h, x : x + w] = rng.uniform(-1, 1, size=3)
    return src * 2 - 1, dst


def down(filters, norm=True):
    block = tf.keras.Sequential()
    block.add(tf.keras.layers.Conv2D(filters, 4, strides=2, padding="same", use_bias=False))
    if norm:
        block.add(tf.keras.layers.BatchNormalization())
    block.add(tf.keras.layers.LeakyReLU())
    return block


def up(filters):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2DTranspose(filters, 4, strides=2, padding="same", use_bias=False),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.ReLU(),
        ]
    )


def Generator():
    inp = tf.keras.Input((IMG, IMG, 1))
    d1 = down(16, norm=False)(inp)
    d2 = down(32)(d1)
    d3 = down(64)(d2)
    u1 = tf.keras.layers.Concatenate()([up(32)(d3), d2])
    u2 = tf.keras.layers.Concatenate()([up(16)(u1), d1])
    out = tf.keras.layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh")(u2)
    return tf.keras.Model(inp, out)


def Discriminator():
    inp = tf.keras.Input((IMG, IMG, 1))
    tar = tf.keras.Input((IMG, IMG, 3))
    x = tf.keras.layers.Concatenate()([inp, tar])
    x = down(16, norm=False)(x)
    x = down(32)(x)
    return tf.keras.Model([inp, tar], tf.keras.layers.Conv2D(1, 4, padding="same")(x))


tf.keras.utils.set_random_seed(5)
generator = Generator()
discriminator = Discriminator()
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
d_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(generator.trainable_variables)
d_opt.build(discriminator.trainable_variables)


@tf.function
def train_step(source, target, l1_weight):
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(source, training=True)
        d_real = discriminator([source, target], training=True)
        d_fake = discriminator([source, fake], training=True)
        l1 = tf.reduce_mean(tf.abs(target - fake))
        g_loss = bce(tf.ones_like(d_fake), d_fake) + l1_weight * l1
        d_loss = 0.5 * (bce(tf.ones_like(d_real), d_real) + bce(tf.zeros_like(d_fake), d_fake))
    g_opt.apply_gradients(
        zip(g_tape.gradient(g_loss, generator.trainable_variables), generator.trainable_variables)
    )
    d_opt.apply_gradients(
        zip(d_tape.gradient(d_loss, discriminator.trainable_variables), discriminator.trainable_variables)
    )
    return g_loss, d_loss, l1


def l1_schedule(epoch):
    return 100.0 * 0.95**epoch


src, dst = make_pairs(N)
dataset = tf.data.Dataset.from_tensor_slices((src, dst)).shuffle(N, seed=1).batch(BATCH).prefetch(2)

for epoch in range(EPOCHS):
    start = time.time()
    l1_weight = l1_schedule(epoch)
    for source, target in dataset:
        g_loss, d_loss, l1 = train_step(source, target, l1_weight)
    print(f"epoch {epoch + 1}: g {g_loss:.3f} d {d_loss:.3f} l1 {l1:.4f} ({time.time() - start:.1f}s)")
