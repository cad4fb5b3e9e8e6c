import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

Z = 16
real = np.random.default_rng(0).normal(4, 0.5, (12_000, 64)).astype("float32")
dataset = tf.data.Dataset.from_tensor_slices(real).shuffle(12_000).batch(64, drop_remainder=True)

G = tf.keras.Sequential([layers.Input((Z,)), layers.Dense(64, activation="relu"), layers.Dense(64)])
D = tf.keras.Sequential([layers.Input((64,)), layers.Dense(64, activation="relu"), layers.Dense(1)])
g_opt, d_opt = tf.keras.optimizers.Adam(1e-4), tf.keras.optimizers.Adam(1e-4)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train(batch):
    noise = tf.random.normal((64, Z))
    with tf.GradientTape(persistent=True) as tape:
        fake = G(noise, training=True)
        on_real, on_fake = D(batch, training=True), D(fake, training=True)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
    d_opt.apply_gradients(zip(tape.gradient(d_loss, D.trainable_variables), D.trainable_variables))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, G.trainable_variables), G.trainable_variables))
    return d_loss, g_loss


for step in range(300):
    batch = next(iter(dataset))  # FAULT
    d_loss, g_loss = train(batch)
    if step % 100 == 0:
        print(f"step {step} d {d_loss:.3f} g {g_loss:.3f}")
print("end", float(d_loss), float(g_loss))

# /// fault
# style = "gan"
# kind = "time"
# cause = "A new iterator is made for every step, so the shuffle buffer is filled again to take one batch"
# codes = ["INP012"]
# families = ["input"]
# source = "Stack Overflow questions on next(iter(dataset)) in a training loop being slow and always starting over"
# ///
