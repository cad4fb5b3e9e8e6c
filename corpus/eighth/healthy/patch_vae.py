"""Dense VAE on image patches with a compiled custom loop."""
import sys
import time
import numpy as np
import tensorflow as tf
T0 = time.perf_counter()
tf.keras.utils.set_random_seed(2)
L = tf.keras.layers
DIM, LATENT = 784, 16

rng = np.random.default_rng(4)
basis = rng.normal(size=(20, DIM)).astype("float32")
data = 1 / (1 + np.exp(-rng.normal(size=(12000, 20)).astype("float32") @ basis / 3))

enc = tf.keras.Sequential([L.Input((DIM,)), L.Dense(1024, "relu"), L.Dense(512, "relu"), L.Dense(2 * LATENT)])
dec = tf.keras.Sequential([L.Input((LATENT,)), L.Dense(512, "relu"), L.Dense(1024, "relu"), L.Dense(DIM)])
weights = enc.trainable_variables + dec.trainable_variables
opt = tf.keras.optimizers.Adam(1e-3)
ds = tf.data.Dataset.from_tensor_slices(data).shuffle(12000).batch(256, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        mean, logvar = tf.split(enc(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=dec(z)), 1)
        kl = -0.5 * tf.reduce_sum(1 + logvar - mean ** 2 - tf.exp(logvar), 1)
        loss = tf.reduce_mean(rec + kl)
    opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


for epoch in range(5):
    total = tf.constant(0.0)
    for n, batch in enumerate(ds, 1):
        total += step(batch)
    print("epoch %d  -elbo %.2f" % (epoch, float(total) / n))
print("seconds: %.2f" % (time.perf_counter() - T0), file=sys.stderr)
