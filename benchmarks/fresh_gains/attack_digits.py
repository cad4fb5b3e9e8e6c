"""Trains a small network with fit, then looks for adversarial pictures by projected gradients."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
tf.keras.utils.set_random_seed(6)
pictures = rng.random((4000, 20, 20, 1)).astype("float32")
labels = (pictures[:, :10].mean((1, 2, 3)) > pictures[:, 10:].mean((1, 2, 3))).astype("int32")
model = tf.keras.Sequential(
    [
        tf.keras.Input((20, 20, 1)),
        tf.keras.layers.Conv2D(6, 3, activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(32, activation="relu"),
        tf.keras.layers.Dense(2),
    ]
)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss_of, metrics=["accuracy"])
model.fit(pictures, labels, epochs=3, batch_size=64, verbose=0)


def push(picture, label, start):  # FAULT
    with tf.GradientTape() as tape:
        tape.watch(picture)
        loss = loss_of(label, model(picture, training=False))
    moved = picture + 0.01 * tf.sign(tape.gradient(loss, picture))
    return tf.clip_by_value(tf.clip_by_value(moved, start - 0.1, start + 0.1), 0.0, 1.0)


fooled = 0
for at in range(0, 640, 16):
    start, label = tf.constant(pictures[at : at + 16]), tf.constant(labels[at : at + 16])
    picture = start
    for _ in range(40):
        picture = push(picture, label, start)
    fooled += int(tf.reduce_sum(tf.cast(tf.argmax(model(picture), 1, tf.int32) != label, tf.int32)))
print("fooled", fooled, "of 640")
