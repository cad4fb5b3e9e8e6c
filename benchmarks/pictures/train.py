"""A small classifier with what makes training slow in practice."""

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
IMAGES = rng.random((512, 32, 32, 3), dtype=np.float32)
LABELS = rng.integers(0, 10, 512)
history = []
WEIGHTS = os.path.join(tempfile.mkdtemp(), "classifier.weights.h5")


def augment(image, label):
    image = tf.numpy_function(jitter, [image], tf.float32)
    image.set_shape((32, 32, 3))
    return image, label


def jitter(image):
    for _ in range(4):
        image = image + 0.01 * np.sin(image * 3.0)
    return image.astype(np.float32)


def batches():
    data = tf.data.Dataset.from_tensor_slices((IMAGES, LABELS))
    return data.shuffle(512).map(augment).batch(48).repeat(8)


model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((32, 32, 3)),
        tf.keras.layers.Conv2D(24, 3, activation="relu", name="first"),
        tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu", name="second"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(10, name="head"),
    ]
)
optimizer = tf.keras.optimizers.Adam(1e-3)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_step(images, labels, rate):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        loss = loss_of(labels, logits) * rate
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss, logits


def train():
    for number, (images, labels) in enumerate(batches()):
        rate = 1.0 if number < 40 else round(1.0 - 0.01 * (number // 8), 3)
        loss, logits = train_step(images, labels, rate)
        history.append(logits)
        if number % 25 == 24:
            model.save_weights(WEIGHTS)
        if number % 10 == 0:
            print(number, float(loss))


train()
