"""Denoising autoencoder with its own train_step."""
import numpy as np
import tensorflow as tf


class Denoiser(tf.keras.Model):
    def __init__(self, dim):
        super().__init__()
        self.enc = [tf.keras.layers.Dense(n, activation="gelu") for n in (64, 32, 16)]
        self.dec = [tf.keras.layers.Dense(n, activation="gelu") for n in (32, 64)]
        self.out = tf.keras.layers.Dense(dim)
        self.tracker = tf.keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        for layer in self.enc + self.dec:
            x = layer(x)
        return self.out(x)

    def train_step(self, x):
        noisy = x + 0.3 * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(noisy, training=True) - x))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


def main():
    tf.keras.utils.set_random_seed(29)
    base = np.random.default_rng(29).normal(size=(4800, 6)) @ np.random.default_rng(30).normal(size=(6, 30))
    model = Denoiser(30)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
    h = model.fit(base.astype("float32"), batch_size=64, epochs=2, verbose=0)
    print("loss %.4f" % h.history["loss"][-1])


if __name__ == "__main__":
    main()
