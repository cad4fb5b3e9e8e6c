"""Metric learning loop on embeddings, careful with memory."""
import gc

import numpy as np
import tensorflow as tf


def sample_triplets(rng, centres, n):
    a = rng.integers(0, len(centres), size=n)
    b = (a + rng.integers(1, len(centres), size=n)) % len(centres)
    noise = lambda: rng.normal(scale=0.3, size=(n, centres.shape[1]))
    return [m.astype("float32") for m in (centres[a] + noise(), centres[a] + noise(), centres[b] + noise())]


def make_encoder():
    return tf.keras.Sequential([
        tf.keras.layers.Input((20,)),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(8),
    ])


def fit(encoder, rng, centres, steps):
    opt = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def step(anchor, pos, neg):
        with tf.GradientTape() as tape:
            ea, ep, en = encoder(anchor), encoder(pos), encoder(neg)
            near = tf.reduce_sum(tf.square(ea - ep), 1)
            far = tf.reduce_sum(tf.square(ea - en), 1)
            loss = tf.reduce_mean(tf.nn.relu(near - far + 1.0))
        grads = tape.gradient(loss, encoder.trainable_variables)
        opt.apply_gradients(zip(grads, encoder.trainable_variables))
        return loss

    for _ in range(steps):
        loss = step(*map(tf.constant, sample_triplets(rng, centres, 64)))
        gc.collect()
    return float(loss)


tf.keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)
final = fit(make_encoder(), rng, rng.normal(size=(15, 20)), 60)
print("triplet loss %.4f" % final)
