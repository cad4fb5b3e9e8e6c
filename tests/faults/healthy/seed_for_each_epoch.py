"""The seed is set for each epoch, so that any of them can be repeated: kernels are made again three times in all."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
signals = rng.random((4096, 256)).astype("float32")
targets = signals[:, :8] * 0.5
denoiser = tf.keras.Sequential(
    [
        tf.keras.layers.Input((256,)),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(8),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(signal, target):
    with tf.GradientTape() as tape:
        noisy = signal + tf.random.normal(tf.shape(signal), stddev=0.1)
        loss = tf.reduce_mean((denoiser(noisy, training=True) - target) ** 2)
    gradients = tape.gradient(loss, denoiser.trainable_variables)
    optimizer.apply_gradients(zip(gradients, denoiser.trainable_variables))
    return loss


data = tf.data.Dataset.from_tensor_slices((signals, targets)).batch(256, drop_remainder=True).prefetch(2)
for epoch in range(6):
    tf.random.set_seed(epoch)
    for signal, target in data:
        loss = train_step(signal, target)
    print("epoch", epoch, float(loss))

# /// healthy
# style = "custom"
# ///
