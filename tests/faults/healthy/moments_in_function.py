"""A loop over a dataset within a tf.function that nothing is waited for: batches are prepared ahead, and kept."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
photos = rng.integers(0, 255, (480, 64, 64, 3), dtype=np.uint8)
data = tf.data.Dataset.from_tensor_slices(photos).batch(32).cache().prefetch(2)
model = tf.keras.Sequential(
    [
        tf.keras.Input((64, 64, 3)),
        tf.keras.layers.Rescaling(1 / 255),
        tf.keras.layers.Conv2D(48, 3, activation="relu"),
        tf.keras.layers.Conv2D(48, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
    ]
)


@tf.function
def moments(dataset):
    total = tf.zeros(48)
    for batch in dataset:
        total += tf.reduce_sum(model(batch), 0)
    return total / len(photos)


for number in range(8):
    print("pass", number, float(tf.norm(moments(data))))

# /// healthy
# style = "custom"
# ///
