"""Texture classification with a compact convolutional network."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIZE, CLASSES = 32, 6


def textures(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, n)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    angle = (labels * np.pi / CLASSES + rng.normal(0, 0.06, n))[:, None, None]
    freq = rng.uniform(0.4, 1.1, n)[:, None, None]
    phase = rng.uniform(0, 2 * np.pi, n)[:, None, None]
    img = np.sin(freq * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    img = img[..., None] * rng.uniform(0.4, 1.0, (n, 1, 1, 3)) + rng.normal(0, 0.5, (n, SIZE, SIZE, 3))
    return img.astype(np.float32), labels.astype(np.int32)


def make_ds(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=0)
    return ds.batch(64).prefetch(tf.data.AUTOTUNE)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling2D()(x)


def build():
    inp = keras.Input((SIZE, SIZE, 3))
    x = block(inp, 32)
    x = block(x, 64)
    x = block(x, 96)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(CLASSES)(x))


keras.utils.set_random_seed(1)
x_train, y_train = textures(5000, 1)
x_val, y_val = textures(1000, 2)
model = build()
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
              metrics=["accuracy"])
model.fit(make_ds(x_train, y_train, True), validation_data=make_ds(x_val, y_val, False),
          epochs=5, verbose=2)
