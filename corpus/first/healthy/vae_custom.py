"""Variational autoencoder with a compiled training loop over tf.data."""
import numpy as np
import tensorflow as tf

DIM, LATENT, BATCH = 784, 16, 256
K = tf.keras


class VAE(K.Model):
    def __init__(self):
        super().__init__()
        self.enc = K.Sequential([K.layers.Dense(512, activation="relu"), K.layers.Dense(2 * LATENT)])
        self.dec = K.Sequential([K.layers.Dense(512, activation="relu"), K.layers.Dense(DIM)])

    def call(self, x):
        mean, logvar = tf.split(self.enc(x), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.dec(z), mean, logvar


def train(model, ds, optimizer, epochs):
    running = K.metrics.Mean()

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            logits, mean, logvar = model(x)
            rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
            kl = -0.5 * tf.reduce_sum(1.0 + logvar - mean ** 2 - tf.exp(logvar), axis=1)
            loss = tf.reduce_mean(rec + kl)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        running.update_state(loss)

    for epoch in range(epochs):
        for x in ds:
            step(x)
        print("epoch", epoch, "loss %.3f" % float(running.result()))
        running.reset_state()


tf.keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
proto = rng.random((20, DIM)) > 0.7
data = (proto[rng.integers(0, 20, size=20000)] ^ (rng.random((20000, DIM)) < 0.05)).astype("float32")
ds = tf.data.Dataset.from_tensor_slices(data).batch(BATCH, drop_remainder=True)
ds = ds.cache().shuffle(100, seed=8).prefetch(2)
train(VAE(), ds, K.optimizers.Adam(1e-3), epochs=7)
