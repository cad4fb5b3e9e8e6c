"""DCGAN on 32x32 synthetic cell images; both updates in one compiled step."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

LATENT, BATCH, EPOCHS = 64, 64, 3


def cells(n, size=32, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    img = np.zeros((n, size, size), np.float32)
    for _ in range(4):
        cx, cy = rng.uniform(4, size - 4, (2, n, 1, 1)).astype(np.float32)
        s = rng.uniform(1.5, 4.0, (n, 1, 1)).astype(np.float32)
        img = np.maximum(img, np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / (2 * s * s)))
    return (img * 2 - 1)[..., None]


generator = tf.keras.Sequential([
    layers.Input((LATENT,)),
    layers.Dense(8 * 8 * 96, use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.Reshape((8, 8, 96)),
    layers.Conv2DTranspose(64, 4, 2, "same", use_bias=False),
    layers.BatchNormalization(),
    layers.ReLU(),
    layers.Conv2DTranspose(1, 4, 2, "same", activation="tanh"),
])
discriminator = tf.keras.Sequential([
    layers.Input((32, 32, 1)),
    layers.Conv2D(48, 4, 2, "same"),
    layers.LeakyReLU(0.2),
    layers.Conv2D(96, 4, 2, "same"),
    layers.LeakyReLU(0.2),
    layers.Flatten(),
    layers.Dropout(0.3),
    layers.Dense(1),
])
g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
d_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(generator.trainable_variables)
d_opt.build(discriminator.trainable_variables)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
g_mean, d_mean = tf.keras.metrics.Mean(), tf.keras.metrics.Mean()


@tf.function
def train_step(real):
    noise = tf.random.normal([BATCH, LATENT])
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        d_fake = discriminator(fake, training=True)
        d_real = discriminator(real, training=True)
        g_loss = bce(tf.ones_like(d_fake), d_fake)
        d_loss = bce(tf.ones_like(d_real) * 0.9, d_real) + bce(tf.zeros_like(d_fake), d_fake)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    g_mean.update_state(g_loss)
    d_mean.update_state(d_loss)


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(10)
    data = cells(3840)
    ds = tf.data.Dataset.from_tensor_slices(data).shuffle(len(data)).batch(BATCH, drop_remainder=True)
    ds = ds.prefetch(tf.data.AUTOTUNE)
    for epoch in range(1, EPOCHS + 1):
        g_mean.reset_state()
        d_mean.reset_state()
        for real in ds:
            train_step(real)
        print(f"epoch {epoch}: g {g_mean.result():.3f} d {d_mean.result():.3f}")
    sample = generator(tf.random.normal([64, LATENT]), training=False).numpy()
    print("sample mean %.3f (data %.3f), std %.3f (data %.3f)" % (
        sample.mean(), data.mean(), sample.std(), data.std()))
