"""Denoising autoencoder on machine vibration spectra.

The job runs on preemptible nodes, so progress is checkpointed and restored on restart.
"""
import argparse
import os
import shutil
import tempfile

import numpy as np
import tensorflow as tf

N_BINS = 256


def make_spectra(n, seed):
    rng = np.random.default_rng(seed)
    bins = np.arange(N_BINS, dtype="float32")
    clean = np.zeros((n, N_BINS), "float32")
    base = rng.uniform(8, 30, (n, 1)).astype("float32")
    for h in range(1, 7):
        clean += np.exp(-0.5 * ((bins - h * base) / 1.5) ** 2) / h
    noisy = clean + rng.normal(0, 0.15, clean.shape).astype("float32")
    return noisy, clean


class Autoencoder(tf.keras.Model):
    def __init__(self, widths=(768, 384, 48)):
        super().__init__()
        L = tf.keras.layers
        self.encoder = tf.keras.Sequential([L.Dense(w, activation="relu") for w in widths])
        self.decoder = tf.keras.Sequential(
            [L.Dense(w, activation="relu") for w in widths[-2::-1]] + [L.Dense(N_BINS)])

    def call(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model, ckpt_dir, lr=1e-3):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.model(tf.zeros((1, N_BINS)))
        self.optimizer.build(self.model.trainable_variables)
        self.step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.epoch = tf.Variable(0, dtype=tf.int64, trainable=False)
        self.loss_metric = tf.keras.metrics.Mean()
        self.ckpt = tf.train.Checkpoint(
            model=self.model, optimizer=self.optimizer, step=self.step, epoch=self.epoch)
        self.manager = tf.train.CheckpointManager(self.ckpt, ckpt_dir, max_to_keep=3)

    def maybe_restore(self):
        if self.manager.latest_checkpoint:
            self.ckpt.restore(self.manager.latest_checkpoint)
            print("restored from", self.manager.latest_checkpoint)
        else:
            print("starting from scratch")

    @tf.function
    def train_step(self, noisy, clean):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(noisy) - clean))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss_metric.update_state(loss)

    def run_epoch(self, dataset):
        self.loss_metric.reset_state()
        for noisy, clean in dataset:
            self.train_step(noisy, clean)
            self.step.assign_add(1)
        self.epoch.assign_add(1)
        self.manager.save()
        return float(self.loss_metric.result())

    def fit(self, dataset, epochs):
        while int(self.epoch) < epochs:
            loss = self.run_epoch(dataset)
            print(f"epoch {int(self.epoch):2d}  step {int(self.step):5d}  loss {loss:.5f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--workdir", default=None)
    ap.add_argument("--samples", type=int, default=6400)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(50)
    workdir = args.workdir or tempfile.mkdtemp(prefix="dae_")
    noisy, clean = make_spectra(args.samples, seed=0)
    ds = (tf.data.Dataset.from_tensor_slices((noisy, clean))
          .shuffle(args.samples, seed=1).batch(args.batch, drop_remainder=True).prefetch(2))

    trainer = Trainer(Autoencoder(), os.path.join(workdir, "ckpt"))
    trainer.maybe_restore()
    trainer.fit(ds, args.epochs)

    noisy_t, clean_t = make_spectra(512, seed=9)
    mse = np.mean((trainer.model(noisy_t).numpy() - clean_t) ** 2)
    print("test mse %.5f" % mse)
    if args.workdir is None:
        shutil.rmtree(workdir)


if __name__ == "__main__":
    main()
