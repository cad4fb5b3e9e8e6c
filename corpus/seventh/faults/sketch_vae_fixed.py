"""Beta-VAE on 28x28 sketches with KL warm-up, custom training loop."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

ap = argparse.ArgumentParser()
ap.add_argument("--steps", type=int, default=300)
ap.add_argument("--batch", type=int, default=32)
ap.add_argument("--latent", type=int, default=8)
ap.add_argument("--warmup", type=int, default=30)
ap.add_argument("--beta", type=float, default=1.0)
args = ap.parse_args()
keras.utils.set_random_seed(0)


def sketches(n):
    rng = np.random.default_rng(0)
    yy, xx = np.mgrid[0:28, 0:28]
    out = np.zeros((n, 28, 28, 1), "float32")
    for i in range(n):
        cx, cy, r = rng.uniform(9, 19), rng.uniform(9, 19), rng.uniform(4, 9)
        d = np.hypot(xx - cx, yy - cy) if i % 2 else np.maximum(abs(xx - cx), abs(yy - cy))
        out[i, ..., 0] = np.exp(-0.5 * ((d - r) / 1.0) ** 2)
    return out


encoder = keras.Sequential([
    keras.Input((28, 28, 1)),
    layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
    layers.Flatten(),
    layers.Dense(2 * args.latent),
])
decoder = keras.Sequential([
    keras.Input((args.latent,)),
    layers.Dense(7 * 7 * 16, activation="relu"),
    layers.Reshape((7, 7, 16)),
    layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
    layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
])
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer = keras.optimizers.Adam(1e-3)
optimizer.build(weights)


def kl_weight(step):
    return args.beta * min(1.0, step / args.warmup)


def elbo_terms(x):
    mean, logvar = tf.split(encoder(x), 2, axis=1)
    z = mean + tf.random.normal(tf.shape(mean)) * tf.exp(0.5 * logvar)
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=decoder(z))
    rec = tf.reduce_mean(tf.reduce_sum(bce, axis=[1, 2, 3]))
    kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), axis=1))
    return rec, kl


@tf.function
def train_step(x, beta):
    with tf.GradientTape() as tape:
        rec, kl = elbo_terms(x)
        loss = rec + beta * kl
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return rec, kl


images = sketches(2048)
dataset = (tf.data.Dataset.from_tensor_slices(images[256:]).shuffle(2048, seed=0).repeat()
           .batch(args.batch, drop_remainder=True).prefetch(2))

start = time.time()
rec_avg, kl_avg = keras.metrics.Mean(), keras.metrics.Mean()
for step, batch in enumerate(dataset.take(args.steps), 1):
    rec, kl = train_step(batch, tf.constant(kl_weight(step), tf.float32))
    rec_avg.update_state(rec)
    kl_avg.update_state(kl)
    if step % 100 == 0:
        print(f"step {step} rec {rec_avg.result():.2f} kl {kl_avg.result():.2f} "
              f"beta {kl_weight(step):.3f} ({time.time() - start:.1f}s)")
        rec_avg.reset_state()
        kl_avg.reset_state()

rec, kl = elbo_terms(tf.constant(images[:256]))
print(f"held-out: rec {rec:.2f} kl {kl:.2f}")
grid = decoder(tf.random.normal((16, args.latent), seed=1))
print("samples", grid.shape, "mean intensity %.3f" % tf.reduce_mean(tf.sigmoid(grid)))
