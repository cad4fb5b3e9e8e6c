"""Sharpen photographs of fingerprints: the network's picture, blurred again, must match the blurred picture."""
import numpy as np
import tensorflow as tf

SIZE, BATCH, RADIUS = 64, 16, 14


def gaussian_kernel(radius, sigma):
    grid = tf.range(-radius, radius + 1, dtype=tf.float32)
    line = tf.exp(-0.5 * tf.square(grid / sigma))
    line /= tf.reduce_sum(line)
    return line


LINE = gaussian_kernel(RADIUS, 4.0)
KERNEL = tf.tensordot(LINE, LINE, axes=0)[:, :, None, None]


def gaussian_blur(image):
    return tf.nn.conv2d(image, KERNEL, strides=1, padding="SAME")


def prints(count, seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:SIZE, :SIZE] / SIZE
    waves = rng.uniform(20, 60, (count, 1, 1)) * np.hypot(x - rng.random((count, 1, 1)), y - rng.random((count, 1, 1)))
    return (0.5 + 0.5 * np.sin(waves)).astype("float32")[..., None]


def sharpener():
    return tf.keras.Sequential([
        tf.keras.layers.Input((SIZE, SIZE, 1)),
        tf.keras.layers.Conv2D(12, 5, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(12, 3, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(1, 3, padding="same"),
    ])


tf.keras.utils.set_random_seed(2)
model = sharpener()
optimizer = tf.keras.optimizers.Adam(2e-3)


@tf.function
def train_step(sharp):
    blurred = gaussian_blur(sharp)
    with tf.GradientTape() as tape:
        guess = model(blurred, training=True)
        again = gaussian_blur(guess)
        loss = tf.reduce_mean(tf.square(again - blurred)) + 0.1 * tf.reduce_mean(tf.abs(guess - sharp))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices(prints(800, 2)).shuffle(800, seed=2).batch(BATCH, drop_remainder=True)
for epoch in range(4):
    total = tf.zeros([])
    for batch in data.prefetch(2):
        total += train_step(batch)
    print("epoch", epoch, "loss", round(float(total), 3))
