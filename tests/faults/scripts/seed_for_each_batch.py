import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
signals = rng.random((2048, 48)).astype("float32")
targets = signals[:, :1] * 0.5
denoiser = tf.keras.Sequential(
    [
        tf.keras.layers.Input((48,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1),
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


losses = []
for batch in range(100):
    tf.random.set_seed(batch)  # FAULT
    begin = batch * 32 % 2048
    losses.append(train_step(tf.constant(signals[begin : begin + 32]), tf.constant(targets[begin : begin + 32])))
print("loss", float(losses[0]), float(losses[-1]))

# /// fault
# style = "custom"
# kind = "time"
# cause = "tf.random.set_seed before each step clears the cache of kernels, so the compiled step is instantiated again"
# codes = ["STP012"]
# families = ["step"]
# source = "GitHub, tensorflow/tensorflow #19671 (set_random_seed clears the kernel cache); tensorflow/python/eager/context.py, _set_global_seed"
# ///
