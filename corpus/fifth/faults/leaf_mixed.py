"""Leaf disease classifier. Settings taken over from the lab's workstation."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")

rng = np.random.default_rng(1)
images = rng.integers(0, 255, (512, 64, 64, 3), dtype=np.uint8)
labels = rng.integers(0, 5, 512)


def block(x, width):
    x = keras.layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.ReLU()(x)
    return keras.layers.MaxPooling2D()(x)


inputs = keras.Input((64, 64, 3))
x = keras.layers.Rescaling(1 / 255)(inputs)
for width in (16, 32, 64):
    x = block(x, width)
x = keras.layers.GlobalAveragePooling2D()(x)
outputs = keras.layers.Dense(5, dtype="float32", activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])

train = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(512).batch(32).prefetch(tf.data.AUTOTUNE)
began = time.perf_counter()
model.fit(train, epochs=2, verbose=2)
print(f"fit {time.perf_counter() - began:.2f} s")
