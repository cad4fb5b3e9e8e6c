"""A frozen convolutional base with a new head, fitted on pictures that chance mirrors again in each epoch."""

import numpy as np
import tensorflow as tf

SIZE = (64, 64, 3)
rng = np.random.default_rng(5)
pictures = rng.integers(0, 255, (320, *SIZE)).astype("uint8")
labels = rng.integers(0, 3, 320)


def backbone():
    layers = [tf.keras.layers.Input(SIZE), tf.keras.layers.Rescaling(1 / 127.5, offset=-1)]
    for filters in (32, 48, 64, 96):
        layers += [
            tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu"),
            tf.keras.layers.Conv2D(filters, 3, padding="same", strides=2),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.ReLU(),
        ]
    return tf.keras.Sequential([*layers, tf.keras.layers.GlobalAveragePooling2D()])


base = backbone()
base.trainable = False
data = tf.data.Dataset.from_tensor_slices((pictures, labels)).shuffle(320).batch(32).prefetch(tf.data.AUTOTUNE)
inputs = tf.keras.Input(SIZE)
mirrored = tf.keras.layers.RandomFlip("horizontal")(inputs)
features = base(mirrored, training=False)
outputs = tf.keras.layers.Dense(3)(tf.keras.layers.Dropout(0.2)(features))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=12, verbose=0)
print(f"loss {model.evaluate(data, verbose=0):.3f}")

# /// healthy
# style = "fit"
# note = "its frozen base sees pictures that chance changes, so its results can't be kept"
# ///
