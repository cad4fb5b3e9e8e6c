"""A trained convnet labels many images in large batches; trains for a moment."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
images = np.tile(rng.random((500, 48, 48, 3), np.float32), (16, 1, 1, 1))
labels = rng.integers(0, 10, 128)
model = tf.keras.Sequential(
    [
        tf.keras.Input((48, 48, 3)),
        tf.keras.layers.Conv2D(48, 3, activation="relu"),
        tf.keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(10),
    ]
)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(images[:128], labels, batch_size=64, verbose=0)
guesses = model.predict(images, batch_size=250, verbose=0).argmax(axis=1)
print("classes", np.bincount(guesses, minlength=10))

# /// healthy
# style = "fit"
# ///
