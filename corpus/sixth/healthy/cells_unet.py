"""A small U-Net on cell pictures with flips in tf.data and a checkpoint an epoch."""

import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def block(x, filters):
    for _ in range(2):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return x


def unet():
    inputs = keras.Input((64, 64, 1))
    one = block(inputs, 16)
    two = block(layers.MaxPooling2D()(one), 32)
    three = block(layers.MaxPooling2D()(two), 64)
    up = block(layers.concatenate([layers.Conv2DTranspose(32, 2, strides=2)(three), two]), 32)
    up = block(layers.concatenate([layers.Conv2DTranspose(16, 2, strides=2)(up), one]), 16)
    return keras.Model(inputs, layers.Conv2D(1, 1)(up))


def flip(image, mask):
    both = tf.image.random_flip_left_right(tf.concat([image, mask], -1))
    return both[..., :1], both[..., 1:]


rng = np.random.default_rng(0)
images = rng.random((256, 64, 64, 1), dtype="float32")
masks = (images > 0.5).astype("float32")
train = (
    tf.data.Dataset.from_tensor_slices((images, masks))
    .shuffle(256)
    .map(flip, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(16)
    .prefetch(tf.data.AUTOTUNE)
)
model = unet()
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
best = keras.callbacks.ModelCheckpoint(tempfile.mkdtemp() + "/best.keras", monitor="loss", save_best_only=True)
model.fit(train, epochs=4, verbose=2, callbacks=[best])
