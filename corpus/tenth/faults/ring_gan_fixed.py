# GAN on a ring of Gaussians, with decaying instance noise on the discriminator inputs.
import numpy as np
import tensorflow as tf
from tensorflow import keras

LATENT = 16
BATCH = 256
EPOCHS = 12
STEPS_PER_EPOCH = 60
NOISE_START = 0.3

keras.utils.set_random_seed(0)
rng = tf.random.Generator.from_seed(2024)


def real_samples(n):
    theta = 2 * np.pi * np.random.randint(0, 8, n) / 8
    centre = np.stack([np.cos(theta), np.sin(theta)], 1)
    return (centre + 0.05 * np.random.randn(n, 2)).astype("float32")


def dense_block(x, units):
    x = keras.layers.Dense(units)(x)
    x = keras.layers.LayerNormalization()(x)
    return keras.layers.LeakyReLU(negative_slope=0.2)(x)


def make_generator():
    z = keras.Input((LATENT,))
    x = z
    for units in (128, 128):
        x = dense_block(x, units)
    return keras.Model(z, keras.layers.Dense(2)(x), name="generator")


def make_discriminator():
    inp = keras.Input((2,))
    x = inp
    for units in (128, 128):
        x = dense_block(x, units)
    return keras.Model(inp, keras.layers.Dense(1)(x), name="discriminator")


generator = make_generator()
discriminator = make_discriminator()
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
d_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
g_opt.build(generator.trainable_variables)
d_opt.build(discriminator.trainable_variables)


@tf.function
def train_step(real, noise_std):
    n = tf.shape(real)[0]
    z = rng.normal((n, LATENT))
    real = real + noise_std * rng.normal((n, 2))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(z, training=True)
        noisy_fake = fake + noise_std * rng.normal((n, 2))
        real_logits = discriminator(real, training=True)
        fake_logits = discriminator(noisy_fake, training=True)
        d_loss = (bce(tf.ones_like(real_logits), real_logits)
                  + bce(tf.zeros_like(fake_logits), fake_logits))
        g_loss = bce(tf.ones_like(fake_logits), fake_logits)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return d_loss, g_loss


def mode_coverage(samples):
    theta = 2 * np.pi * np.arange(8) / 8
    centres = np.stack([np.cos(theta), np.sin(theta)], 1)
    d = np.linalg.norm(samples[:, None] - centres[None], axis=-1)
    near = d.min(1) < 0.3
    return len(np.unique(d.argmin(1)[near])), near.mean()


def train():
    for epoch in range(EPOCHS):
        d_hist, g_hist = [], []
        noise_std = NOISE_START * (1.0 - epoch / EPOCHS)
        for _ in range(STEPS_PER_EPOCH):
            d_loss, g_loss = train_step(tf.constant(real_samples(BATCH)), tf.constant(noise_std, tf.float32))
            d_hist.append(float(d_loss))
            g_hist.append(float(g_loss))
        samples = generator(rng.normal((512, LATENT)), training=False).numpy()
        modes, quality = mode_coverage(samples)
        print(f"epoch {epoch + 1:2d}  d_loss {np.mean(d_hist):.4f}  g_loss {np.mean(g_hist):.4f}"
              f"  modes {modes}/8  quality {quality:.3f}")


if __name__ == "__main__":
    train()
