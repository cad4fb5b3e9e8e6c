"""One epoch is one call of a tf.function that gets the dataset, as many write it to be rid of Python."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
photos = rng.integers(0, 255, (480, 96, 96, 3), dtype=np.uint8)
kinds = rng.integers(0, 10, 480)


def augment(photo, kind):
    photo = tf.image.random_flip_left_right(tf.cast(photo, tf.float32) / 255.0)
    photo = tf.image.resize(photo, (192, 192), method="bicubic")
    return tf.image.resize(photo, (48, 48), antialias=True), kind


train = tf.data.Dataset.from_tensor_slices((photos, kinds)).shuffle(480)
train = train.map(augment)  # FAULT
train = train.batch(32).prefetch(2)

model = tf.keras.Sequential([tf.keras.Input((48, 48, 3)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam(1e-4)
optimizer.build(model.trainable_variables)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def epoch(dataset):
    total = 0.0
    for photo, kind in dataset:
        with tf.GradientTape() as tape:
            loss = cross_entropy(kind, model(photo, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        total += loss
    return total


for number in range(8):
    print("epoch", number, "loss", float(epoch(train)))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The map that augments each image has no num_parallel_calls, and the dataset is looped over within a tf.function that gets it"
# codes = ["INP003", "INP001"]
# families = ["input"]
# source = "tensorflow.org guide 'Better performance with tf.function', looping over a dataset; GitHub, tensorflow/models #10214 (map without num_parallel_calls)"
# ///
