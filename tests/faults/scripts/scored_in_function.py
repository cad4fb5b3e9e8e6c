"""A model's scores over all photos, the loop over the batches within one tf.function; nothing is trained."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
photos = rng.integers(0, 255, (480, 96, 96, 3), dtype=np.uint8)
kinds = rng.integers(0, 10, 480)


def scaled(photo, kind):
    photo = tf.image.resize(tf.cast(photo, tf.float32) / 255.0, (192, 192), method="bicubic")
    return tf.image.resize(photo, (48, 48), antialias=True), kind


model = tf.keras.Sequential([tf.keras.Input((48, 48, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
data = tf.data.Dataset.from_tensor_slices((photos, kinds))
data = data.map(scaled).batch(32)  # FAULT


@tf.function
def score(dataset):
    right = 0
    for photo, kind in dataset:
        right += tf.math.count_nonzero(tf.argmax(model(photo), -1) == kind, dtype=tf.int32)
    return right


for scale in np.linspace(0.5, 1.5, 12):
    model.set_weights([scale * weight for weight in model.get_weights()])
    print(f"scale {scale:.2f} right {int(score(data))}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "Photos are resized again in each pass of a loop within a tf.function that trains nothing"
# codes = ["INP006", "INP003", "INP001"]
# families = ["input"]
# source = "tensorflow.org guide 'Better performance with the tf.data API', caching"
# ///
