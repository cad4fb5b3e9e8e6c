"""Pictures of three of ten classes are wanted; all of them are decoded and changed first."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
small = [rng.integers(0, 255, (16, 16, 3)).astype("uint8") for _ in range(100)]
files = [tf.io.encode_jpeg(tf.image.resize(one, (128, 128)).numpy().astype("uint8")).numpy() for one in small] * 12
classes = rng.integers(0, 10, len(files))


def load(data, label):
    image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), (48, 48)) / 255.0
    return tf.image.random_brightness(image, 0.2), label


data = tf.data.Dataset.from_tensor_slices((files, classes))
data = data.map(load, num_parallel_calls=tf.data.AUTOTUNE)
data = data.filter(lambda image, label: label < 3)  # FAULT
data = data.batch(32).prefetch(tf.data.AUTOTUNE)
layers = [tf.keras.layers.Conv2D(8, 3, strides=4, activation="relu"), tf.keras.layers.GlobalAveragePooling2D()]
model = tf.keras.Sequential([tf.keras.Input((48, 48, 3)), *layers, tf.keras.layers.Dense(3)])
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(data, epochs=14, verbose=0)
print(f"loss {history.history['loss'][-1]:.3f}")

# /// fault
# style = "fit"
# kind = "time"
# cause = "A filter that asks for the label stands behind the map that decodes the picture"
# codes = ["INP008"]
# families = ["input"]
# source = "questions on selecting classes of an image data set with tf.data.Dataset.filter"
# ///
