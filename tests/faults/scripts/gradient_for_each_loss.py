import numpy as np
import tensorflow as tf


class Vae(tf.keras.Model):
    def __init__(self, latent=8):
        super().__init__()
        self.encoder = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(2 * latent),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(400),
            ]
        )

    def train_step(self, x):
        with tf.GradientTape(persistent=True) as tape:  # FAULT
            mean, logvar = tf.split(self.encoder(x), 2, axis=1)
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
            decoded = self.decoder(z)
            reconstruction = tf.reduce_mean(tf.reduce_sum((x - decoded) ** 2, axis=1))
            kl = -0.5 * tf.reduce_mean(1 + logvar - mean**2 - tf.exp(logvar))
            smooth = 0.01 * tf.reduce_mean(tf.abs(decoded[:, 1:] - decoded[:, :-1]))
        variables = self.trainable_variables
        total = [tf.zeros_like(v) for v in variables]
        for term in (reconstruction, kl, smooth):
            grads = tape.gradient(term, variables)  # FAULT
            total = [t if g is None else t + g for t, g in zip(total, grads)]
        self.optimizer.apply_gradients(zip(total, variables))
        return {"reconstruction": reconstruction, "kl": kl}


data = np.random.rand(6400, 400).astype("float32")
vae = Vae()
vae.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
log = vae.fit(data, batch_size=64, epochs=4, verbose=2)
print(log.history["reconstruction"][-1])

# /// fault
# style = "subclassed"
# kind = "time"
# cause = "A persistent tape runs the backward pass once for each loss term, where the gradient of their sum is wanted"
# codes = ["GRF004", "GRF001"]
# families = ["graph"]
# source = "Stack Overflow questions on persistent GradientTape and several losses"
# renamed = true
# ///
