"""Draws pictures from captions: noise is taken away step by step, as the caption says."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

WORDS, LENGTH, WIDTH, SIDE, STEPS = 2000, 96, 192, 16, 30

words = keras.Input((LENGTH,), dtype="int32")
x = keras.layers.Embedding(WORDS, WIDTH)(words)
for _ in range(3):
    x = keras.layers.LayerNormalization()(x + keras.layers.MultiHeadAttention(4, WIDTH // 4)(x, x))
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(WIDTH)(keras.layers.Dense(4 * WIDTH, "relu")(x)))
reader = keras.Model(words, keras.layers.GlobalAveragePooling1D()(x))

noisy = keras.Input((SIDE, SIDE, 3))
meaning = keras.Input((WIDTH,))
y = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(noisy)
y = y + keras.layers.Reshape((1, 1, 16))(keras.layers.Dense(16)(meaning))
painter = keras.Model([noisy, meaning], keras.layers.Conv2D(3, 3, padding="same")(y))


@tf.function
def less_noise(picture, level, caption):
    said = reader(caption, training=False)  # FAULT
    noise = painter([picture, said], training=False)
    return picture - level * noise


def draw(caption):
    picture = tf.random.normal((len(caption), SIDE, SIDE, 3))
    for step in range(STEPS):
        picture = less_noise(picture, tf.constant(0.05 * (1 - step / STEPS)), caption)
    return picture


captions = np.random.default_rng(0).integers(1, WORDS, (240, LENGTH)).astype("int32")
for start in range(0, len(captions), 8):
    pictures = draw(tf.constant(captions[start : start + 8]))
    if start % 80 == 0:
        print(f"{start} captions: {float(tf.reduce_mean(pictures)):.4f}")

# /// fault
# style = "custom"
# kind = "time"
# cause = "A caption is read by its encoder again in each of the steps in which its picture is drawn"
# codes = ["GRF023"]
# families = ["graph"]
# source = "Public code of captioning, translation and diffusion in TensorFlow whose sampling step takes the condition and encodes it each time"
# ///
