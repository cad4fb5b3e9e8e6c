"""Trains an encoder of signals; the step gives the spectrum of its codes, which is looked at now and then."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

LONG, WIDE, BATCH = 512, 256, 512

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)
signals = rng.normal(size=(8192, LONG)).astype("float32")
encoder = keras.Sequential([keras.Input((LONG,)), keras.layers.Dense(WIDE, activation="tanh"), keras.layers.Dense(64)])
decoder = keras.Sequential([keras.Input((64,)), keras.layers.Dense(WIDE, activation="tanh"), keras.layers.Dense(LONG)])
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.SGD(0.01)
optimizer.build(weights)


@tf.function
def learn(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch, training=True)
        loss = tf.reduce_mean(tf.square(decoder(code, training=True) - batch))
    optimizer.apply(tape.gradient(loss, weights), weights)
    alike = tf.matmul(code, code, transpose_a=True)
    return loss, tf.linalg.eigvalsh(alike)


data = tf.data.Dataset.from_tensor_slices(signals).cache().shuffle(8192).repeat()
for step, batch in enumerate(data.batch(BATCH, drop_remainder=True).prefetch(2).take(300)):
    loss, spectrum = learn(batch)
    if step % 50 == 49:
        print(f"loss {float(loss):.3f}, largest {float(spectrum[-1]):.1f}")

# /// healthy
# style = "custom"
# note = "a result of its step is read every fiftieth time"
# ///
