"""Train a classifier of noisy patches with a learning rate that falls to zero at the last step."""

import numpy as np
import tensorflow as tf

EPOCHS, BATCH = 2, 32
rng = np.random.default_rng(0)
patches = rng.integers(0, 255, (9600, 48, 48, 3), dtype=np.uint8)
labels = rng.integers(0, 4, 9600)


def augment(patch, label):
    patch = tf.image.resize(tf.cast(patch, tf.float32) / 255.0, (160, 160), method="bicubic")
    patch = tf.image.random_saturation(tf.clip_by_value(patch, 0.0, 1.0), 0.6, 1.4)
    return tf.image.resize(tf.image.random_crop(patch, (128, 128, 3)), (32, 32)), label


def load(patches, labels):
    rows = tf.data.Dataset.from_tensor_slices((patches, labels)).shuffle(len(labels))
    return rows.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE)


train = load(patches, labels)
steps = EPOCHS * len(list(train))  # FAULT
rate = tf.keras.optimizers.schedules.CosineDecay(1e-3, steps)

model = tf.keras.Sequential(
    [
        tf.keras.Input((32, 32, 3)),
        tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(4),
    ]
)
model.compile(tf.keras.optimizers.Adam(rate), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(train, epochs=EPOCHS, verbose=2)
print("loss", history.history["loss"][-1], "steps", steps)

# /// fault
# style = "fit"
# kind = "time"
# cause = "All batches are prepared once more, only to count them"
# codes = ["INP017"]
# families = ["input"]
# source = "GitHub, OHBA-analysis/osl-dynamics #182 'Counting batches is slow' (fixed by Dataset.cardinality) and tensorflow/tensorflow #36531"
# renamed = true
# ///
