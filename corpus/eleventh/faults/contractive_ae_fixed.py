"""Contractive autoencoder (Rifai et al. 2011) on synthetic strokes."""
import numpy as np
import tensorflow as tf


class ContractiveAutoencoder(tf.keras.Model):
    def __init__(self, n_in, n_hidden, lam):
        super().__init__()
        self.lam = lam
        self.enc1 = tf.keras.layers.Dense(128, activation="tanh")
        self.enc2 = tf.keras.layers.Dense(n_hidden, activation="sigmoid")
        self.dec1 = tf.keras.layers.Dense(128, activation="tanh")
        self.dec2 = tf.keras.layers.Dense(n_in, activation="sigmoid")
        self.recon_tracker = tf.keras.metrics.Mean(name="recon")
        self.penalty_tracker = tf.keras.metrics.Mean(name="penalty")

    @property
    def metrics(self):
        return [self.recon_tracker, self.penalty_tracker]

    def encode(self, x):
        return self.enc2(self.enc1(x))

    def decode(self, h):
        return self.dec2(self.dec1(h))

    def call(self, x):
        return self.decode(self.encode(x))

    def contractive_penalty(self, x):
        with tf.GradientTape() as jac_tape:
            jac_tape.watch(x)
            h = self.encode(x)
        jac = jac_tape.batch_jacobian(h, x)
        frob = tf.reduce_sum(tf.square(jac)) / tf.cast(tf.shape(x)[0], tf.float32)
        return h, frob

    def train_step(self, data):
        x = data
        with tf.GradientTape() as tape:
            h, penalty = self.contractive_penalty(x)
            x_hat = self.decode(h)
            recon = tf.reduce_mean(tf.reduce_sum(tf.square(x - x_hat), axis=1))
            loss = recon + self.lam * penalty
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.recon_tracker.update_state(recon)
        self.penalty_tracker.update_state(penalty)
        return {m.name: m.result() for m in self.metrics}


def strokes(n, size=14, seed=0):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, size * size).reshape(size, size)
    yy, xx = np.mgrid[0:size, 0:size] / (size - 1)
    ang = rng.uniform(0, np.pi, (n, 1, 1))
    off = rng.uniform(-0.3, 0.3, (n, 1, 1))
    d = (xx - 0.5) * np.sin(ang) - (yy - 0.5) * np.cos(ang) - off
    img = np.exp(-(d / 0.08) ** 2) + 0.02 * t
    return np.clip(img, 0, 1).reshape(n, -1).astype("float32")


def main():
    tf.keras.utils.set_random_seed(0)
    data = strokes(1280)
    ds = tf.data.Dataset.from_tensor_slices(data).cache().shuffle(1280).batch(32, drop_remainder=True)
    ds = ds.prefetch(tf.data.AUTOTUNE)

    model = ContractiveAutoencoder(data.shape[1], 32, lam=1e-2)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), jit_compile=False)
    model.fit(ds, epochs=3, verbose=2)

    codes = model.encode(tf.constant(data[:500])).numpy()
    print("code mean %.3f, std %.3f" % (codes.mean(), codes.std()))
    print("saturated units: %.1f%%" % (100 * np.mean((codes < 0.05) | (codes > 0.95))))


if __name__ == "__main__":
    main()
