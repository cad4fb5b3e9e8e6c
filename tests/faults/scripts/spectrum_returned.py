"""Trains an encoder of signals, with a penalty on what it gives."""

import numpy as np
import tensorflow as tf

LONG, WIDE, BATCH = 256, 192, 256

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(6)
signals = rng.normal(size=(12_800, LONG)).astype("float32")

encoder = tf.keras.Sequential([tf.keras.Input((LONG,)), tf.keras.layers.Dense(WIDE, activation="tanh")])
decoder = tf.keras.Sequential([tf.keras.Input((WIDE,)), tf.keras.layers.Dense(LONG)])
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer = tf.keras.optimizers.Adam(1e-3)
optimizer.build(weights)


@tf.function
def learn(batch):
    with tf.GradientTape() as tape:
        code = encoder(batch, training=True)
        loss = tf.reduce_mean(tf.square(decoder(code, training=True) - batch)) + 1e-3 * tf.reduce_mean(tf.abs(code))
    optimizer.apply(tape.gradient(loss, weights), weights)
    spectrum = tf.linalg.svd(code, compute_uv=False)  # FAULT
    return loss, spectrum


for epoch in range(4):
    for at in range(0, len(signals), BATCH):
        loss, _ = learn(tf.constant(signals[at : at + BATCH]))
    print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The compiled step returns singular values that its caller drops"
# codes = ["GRF031"]
# families = ["graph"]
# source = "tensorflow.org guide 'Introduction to graphs and tf.function': operations without an effect are pruned, results are not"
# ///
