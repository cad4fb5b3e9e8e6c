"""Trains on tabular rows."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
x = rng.normal(size=(64 * 60, 40)).astype("float32")
y = (x[:, :3].sum(1) > 0).astype("float32")
catalogue = {i: {"name": f"row {i}", "tags": [i, i + 1]} for i in range(60_000)}
model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
model.build((None, 40))
optimizer.build(model.trainable_variables)


@tf.function
def train(rows, labels):
    with tf.GradientTape() as tape:
        logits = model(rows, training=True)[:, 0]
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits))
    optimizer.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
    )
    return loss


for rows, labels in tf.data.Dataset.from_tensor_slices((x, y)).batch(64).prefetch(2):
    loss = train(rows, labels)
print(float(loss), len(catalogue))
