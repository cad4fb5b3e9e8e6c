"""A new head for a frozen convolutional base, fitted on what the base makes of the pictures."""

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
features = base.predict(pictures, batch_size=64, verbose=0)
data = tf.data.Dataset.from_tensor_slices((features, labels)).shuffle(320).batch(32).prefetch(tf.data.AUTOTUNE)
inputs = tf.keras.Input(features.shape[1:])
outputs = tf.keras.layers.Dense(3)(tf.keras.layers.Dropout(0.2)(inputs))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(data, epochs=12, verbose=0)
print(f"loss {model.evaluate(data, verbose=0):.3f}")
