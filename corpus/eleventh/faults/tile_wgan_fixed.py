"""Small Wasserstein GAN for 16x16 texture tiles, with TensorBoard logs."""
import os
import tempfile
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, Sequential

SIZE, LATENT, BATCH, STEPS = 16, 32, 64, 300


def tiles(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype("float32")
    fx, fy, ph = rng.uniform(0.2, 1.2, (3, n, 1, 1)).astype("float32")
    img = np.sin(fx * xx + fy * yy + 6 * ph) * np.cos(fy * xx - fx * yy)
    return img[..., None].astype("float32")


def make_generator():
    return Sequential([
        layers.Input((LATENT,)),
        layers.Dense(4 * 4 * 32, use_bias=False), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Reshape((4, 4, 32)),
        layers.Conv2DTranspose(24, 4, 2, "same", use_bias=False), layers.BatchNormalization(), layers.LeakyReLU(),
        layers.Conv2DTranspose(1, 4, 2, "same", activation="tanh"),
    ], name="generator")


def make_critic():
    return Sequential([
        layers.Input((SIZE, SIZE, 1)),
        layers.Conv2D(24, 4, 2, "same"), layers.LeakyReLU(),
        layers.Conv2D(32, 4, 2, "same"), layers.LeakyReLU(),
        layers.Flatten(), layers.Dense(1),
    ], name="critic")


class Trainer:
    def __init__(self, logdir):
        self.gen, self.critic = make_generator(), make_critic()
        self.g_opt = tf.keras.optimizers.RMSprop(1e-4)
        self.c_opt = tf.keras.optimizers.RMSprop(1e-4)
        self.g_opt.build(self.gen.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)
        self.writer = tf.summary.create_file_writer(logdir)
        self.fixed_noise = tf.random.normal([16, LATENT], seed=1)

    @tf.function
    def train_step(self, real):
        noise = tf.random.normal([BATCH, LATENT])
        with tf.GradientTape() as tape:
            fake = self.gen(noise, training=True)
            c_loss = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
        grads = tape.gradient(c_loss, self.critic.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.critic.trainable_variables))
        for w in self.critic.trainable_variables:
            w.assign(tf.clip_by_value(w, -0.02, 0.02))
        with tf.GradientTape() as tape:
            g_loss = -tf.reduce_mean(self.critic(self.gen(noise, training=True)))
        grads = tape.gradient(g_loss, self.gen.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return c_loss, g_loss

    def log(self, step, c_loss, g_loss):
        with self.writer.as_default(step=step):
            tf.summary.scalar("loss/critic", c_loss)
            tf.summary.scalar("loss/generator", g_loss)
            for net in (self.gen, self.critic):
                for w in net.trainable_variables:
                    tf.summary.histogram(f"{net.name}/{w.path}", w.value)
            samples = self.gen(self.fixed_noise, training=False) * 0.5 + 0.5
            tf.summary.image("samples", samples, max_outputs=16)

    def fit(self, dataset, steps):
        for step, real in enumerate(dataset.take(steps)):
            c_loss, g_loss = self.train_step(real)
            if step % 100 == 0:
                self.log(step, c_loss, g_loss)
                print(f"{step:4d} critic {float(c_loss):+.4f} generator {float(g_loss):+.4f}")
        self.writer.flush()


if __name__ == "__main__":
    tf.random.set_seed(4)
    with tempfile.TemporaryDirectory() as tmp:
        ds = tf.data.Dataset.from_tensor_slices(tiles(6400)).cache()
        ds = ds.shuffle(6400).repeat().batch(BATCH).prefetch(tf.data.AUTOTUNE)
        trainer = Trainer(os.path.join(tmp, "logs"))
        trainer.fit(ds, STEPS)
        size = sum(os.path.getsize(os.path.join(r, f)) for r, _, fs in os.walk(tmp) for f in fs)
        print("log size: %.2f MB" % (size / 1e6))
