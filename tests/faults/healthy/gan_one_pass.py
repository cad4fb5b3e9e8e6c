import tensorflow as tf
from tensorflow.keras import layers

BATCH, LATENT = 128, 64


def dense_net(sizes, n_in, last=None):
    net = tf.keras.Sequential([layers.Input((n_in,))])
    for size in sizes[:-1]:
        net.add(layers.Dense(size, activation="leaky_relu"))
    net.add(layers.Dense(sizes[-1], activation=last))
    return net


generator = dense_net((512, 512, 784), LATENT, "tanh")
discriminator = dense_net((512, 256, 1), 784)
g_opt, d_opt = tf.keras.optimizers.Adam(2e-4, 0.5), tf.keras.optimizers.Adam(2e-4, 0.5)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    noise = tf.random.normal((BATCH, LATENT))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        scores = discriminator(tf.concat([real, fake], axis=0), training=True)
        on_real, on_fake = tf.split(scores, 2)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss


digits = tf.random.uniform((5120, 784), -1.0, 1.0)
data = tf.data.Dataset.from_tensor_slices(digits).shuffle(5120).batch(BATCH, drop_remainder=True).prefetch(2)
for epoch in range(6):
    for real in data:
        g_loss, d_loss = train_step(real)
    print(f"epoch {epoch}: g {float(g_loss):.3f} d {float(d_loss):.3f}")

# /// healthy
# style = "gan"
# renamed = true
# ///
