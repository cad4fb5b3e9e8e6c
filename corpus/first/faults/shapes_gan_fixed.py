"""A little GAN that learns two-dimensional spirals."""
import numpy as np
import tensorflow as tf

LATENT = 16
BATCH = 128


def mlp(sizes, n_in, name):
    inp = tf.keras.Input((n_in,))
    x = inp
    for s in sizes[:-1]:
        x = tf.keras.layers.Dense(s)(x)
        x = tf.keras.layers.LeakyReLU(0.2)(x)
    return tf.keras.Model(inp, tf.keras.layers.Dense(sizes[-1])(x), name=name)


def spirals(n):
    rng = np.random.default_rng(10)
    t = rng.uniform(0.5, 4 * np.pi, size=n)
    xy = np.stack([t * np.cos(t), t * np.sin(t)], 1) / (4 * np.pi)
    return (xy + rng.normal(scale=0.02, size=(n, 2))).astype("float32")


tf.keras.utils.set_random_seed(10)
gen = mlp([64, 64, 2], LATENT, "gen")
disc = mlp([64, 64, 1], 2, "disc")
g_opt = tf.keras.optimizers.Adam(1e-3)
d_opt = tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def gan_step(real):
    noise = tf.random.normal([BATCH, LATENT])
    with tf.GradientTape() as gt, tf.GradientTape() as dt:
        fake = gen(noise, training=True)
        r, f = disc(real, training=True), disc(fake, training=True)
        g_loss = bce(tf.ones_like(f), f)
        d_loss = bce(tf.ones_like(r), r) + bce(tf.zeros_like(f), f)
    g_opt.apply_gradients(zip(gt.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
    d_opt.apply_gradients(zip(dt.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    return g_loss, d_loss


data = tf.data.Dataset.from_tensor_slices(spirals(BATCH * 11)).shuffle(8000, seed=1)
data = data.batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(5):
    for real in data:
        g_loss, d_loss = gan_step(real)
print("generator %.3f discriminator %.3f" % (float(g_loss), float(d_loss)))
