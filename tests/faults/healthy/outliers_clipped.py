"""Learns from measurements with outliers, whose gradients burst: they are clipped by their norm."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

WIDE, LONG, BATCH = 384, 64, 512

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
measured = rng.normal(size=(8192, LONG)).astype("float32")
wanted = (measured.sum(axis=1) + rng.standard_cauchy(8192)).astype("float32")
layers = [keras.layers.Dense(WIDE, activation="relu") for _ in range(4)]
model = keras.Sequential([keras.Input((LONG,)), *layers, keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(model.trainable_variables)


@tf.function
def learn(batch, goal):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(batch, training=True)[:, 0] - goal))
    gradients, norm = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 0.5)
    optimizer.apply(gradients, model.trainable_variables)
    return loss, norm


data = tf.data.Dataset.from_tensor_slices((measured, wanted)).cache().shuffle(8192).repeat()
for step, (batch, goal) in enumerate(data.batch(BATCH, drop_remainder=True).prefetch(2).take(300)):
    loss, norm = learn(batch, goal)
    if step % 50 == 49:
        print(f"loss {float(loss):.3f}, norm {float(norm):.1f}")

# /// healthy
# style = "custom"
# note = "outliers make its gradients burst: they are clipped by their norm"
# ///
