"""Integrated gradients for a handful of pictures, to see which pixels a classifier looks at."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

SIZE = 48
STEPS = 100


def build():
    inputs = keras.Input((SIZE, SIZE, 3))
    x = inputs
    for width in (16, 32, 64):
        x = keras.layers.Conv2D(width, 3, strides=2, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    return keras.Model(inputs, keras.layers.Dense(20, activation="softmax")(x))


def integrated_gradients(model, image, target, baseline):
    gradients = []
    for alpha in np.linspace(0.0, 1.0, STEPS + 1):
        step = baseline + alpha.astype("float32") * (image - baseline)
        with tf.GradientTape() as tape:
            tape.watch(step)
            probability = model(step[tf.newaxis], training=False)[0, target]
        gradients.append(tape.gradient(probability, step))
    gradients = tf.stack(gradients)
    trapezoid = (gradients[:-1] + gradients[1:]) / 2.0
    return (image - baseline) * tf.reduce_mean(trapezoid, axis=0)


def main():
    rng = np.random.default_rng(3)
    images = rng.random((10, SIZE, SIZE, 3), dtype="float32")
    model = build()
    baseline = tf.zeros((SIZE, SIZE, 3))
    for number, image in enumerate(images):
        image = tf.constant(image)
        target = int(tf.argmax(model(image[tf.newaxis])[0]))
        attribution = integrated_gradients(model, image, target, baseline)
        print(number, target, float(tf.reduce_sum(tf.abs(attribution))))


main()
