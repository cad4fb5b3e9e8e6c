"""Multitask toxicity network on binary fingerprints, with resumable training."""
import argparse
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

N_TASKS = 12


def make_assay(n, n_bits, seed=0):
    rng = np.random.default_rng(seed)
    x = (rng.random((n, n_bits)) < 0.08).astype("float32")
    directions = rng.normal(size=(n_bits, N_TASKS))
    y = (x @ directions > 0).astype("float32")
    w = (rng.random((n, N_TASKS)) < 0.8).astype("float32")
    return x, y, w


def build_model(n_bits, hidden, lr=3e-4):
    x = inputs = layers.Input((n_bits,))
    for h in hidden:
        x = layers.Dense(h, activation="relu")(x)
    model = tf.keras.Model(inputs, layers.Dense(N_TASKS)(x))
    model.compile(optimizer=tf.keras.optimizers.Adam(lr))
    return model


class Trainer:
    def __init__(self, model, model_dir, checkpoint_interval=20):
        self.model = model
        self.checkpoint_interval = checkpoint_interval
        self.path = os.path.join(model_dir, "multitask.keras")

    @tf.function
    def _step(self, x, y, w):
        with tf.GradientTape() as tape:
            logits = self.model(x)
            losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits)
            loss = tf.reduce_sum(losses * w) / tf.reduce_sum(w)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.model.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def save(self):
        self.model.save(self.path)

    def fit(self, ds, nb_epoch):
        history = []
        for epoch in range(1, nb_epoch + 1):
            total = [float(self._step(*batch)) for batch in ds]
            history.append(float(np.mean(total)))
            if epoch % self.checkpoint_interval == 0 or epoch == nb_epoch:
                self.save()
        return history

    def evaluate(self, x, y, w):
        pred = self.model(x).numpy() > 0
        return float(((pred == (y > 0.5)) * w).sum() / w.sum())


def build_dataset(x, y, w, batch_size):
    ds = tf.data.Dataset.from_tensor_slices((x, y, w))
    return ds.batch(batch_size).cache().prefetch(2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--compounds", type=int, default=64)
    parser.add_argument("--bits", type=int, default=1024)
    args = parser.parse_args()

    tf.keras.utils.set_random_seed(0)
    x, y, w = make_assay(args.compounds + 400, args.bits)
    train = build_dataset(x[400:], y[400:], w[400:], 64)
    with tempfile.TemporaryDirectory() as model_dir:
        trainer = Trainer(build_model(args.bits, (1500, 800)), model_dir)
        history = trainer.fit(train, args.epochs)
        restored = Trainer(tf.keras.models.load_model(trainer.path), model_dir)
    valid = restored.evaluate(x[:400], y[:400], w[:400])
    print(f"loss {history[0]:.4f} -> {history[-1]:.5f}  valid {valid:.4f}")


if __name__ == "__main__":
    main()
