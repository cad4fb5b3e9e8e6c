"""How much a network's answer depends on each patch of the picture: the same array with another patch hidden each time,
then the same pictures again after a weight was pruned."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
net = tf.keras.Sequential(
    [
        tf.keras.Input((48, 48, 1)),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4),
    ]
)
pictures = np.random.default_rng(4).normal(size=(640, 48, 48, 1)).astype("float32")
plain = net.predict(pictures, batch_size=128, verbose=0)

for patch in range(8):
    row, column = divmod(patch, 4)
    hidden = np.s_[:, 12 * row : 12 * row + 4, 12 * column : 12 * column + 4]
    kept = pictures[hidden].copy()
    pictures[hidden] = 0
    change = np.abs(net.predict(pictures, batch_size=128, verbose=0) - plain).mean()
    pictures[hidden] = kept
    print(f"patch {patch}: {change:.4f}")

kernel = net.layers[1].kernel
for channel in range(8):
    weights = kernel.numpy()
    kernel.assign(np.where(np.arange(32) == channel, 0, weights))
    change = np.abs(net.predict(pictures, batch_size=128, verbose=0) - plain).mean()
    kernel.assign(weights)
    print(f"without channel {channel}: {change:.4f}")

# /// healthy
# style = "custom"
# note = "the same array each time, written to in between; then the same data after a weight was assigned"
# ///
