import os
import tempfile

import numpy as np
import tensorflow as tf

ARCHIVE = os.path.join(tempfile.mkdtemp(), "faces.npz")
np.savez_compressed(ARCHIVE, faces=(np.random.rand(3000, 32, 32) * 255).astype("uint8"))
LATENT = 32


def sample_real(count):
    archive = np.load(ARCHIVE)  # FAULT
    faces = archive["faces"]  # FAULT
    chosen = np.random.randint(0, faces.shape[0], count)
    return (faces[chosen].astype("float32") / 127.5) - 1.0


generator = tf.keras.Sequential(
    [
        tf.keras.Input((LATENT,)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(1024, activation="tanh"),
        tf.keras.layers.Reshape((32, 32)),
    ]
)
critic = tf.keras.Sequential(
    [
        tf.keras.Input((32, 32)),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
opt_g = tf.keras.optimizers.RMSprop(5e-5)
opt_c = tf.keras.optimizers.RMSprop(5e-5)


@tf.function
def update(real):
    z = tf.random.normal((tf.shape(real)[0], LATENT))
    with tf.GradientTape() as tape_g, tf.GradientTape() as tape_c:
        fake = generator(z, training=True)
        score_real, score_fake = critic(real), critic(fake)
        loss_c = tf.reduce_mean(score_fake) - tf.reduce_mean(score_real)
        loss_g = -tf.reduce_mean(score_fake)
    opt_c.apply_gradients(zip(tape_c.gradient(loss_c, critic.trainable_variables), critic.trainable_variables))
    opt_g.apply_gradients(zip(tape_g.gradient(loss_g, generator.trainable_variables), generator.trainable_variables))
    return loss_c, loss_g


for iteration in range(500):
    losses = update(tf.constant(sample_real(64)))
print("critic", float(losses[0]), "generator", float(losses[1]))

# /// fault
# style = "gan"
# kind = "time"
# cause = "The archive of images is opened and decompressed for every batch"
# codes = ["INP002"]
# families = ["input"]
# source = "Stack Overflow questions on np.load inside a batch function; the project's own naive GAN has the same fault in other words"
# ///
