"""Regression with a soft Lipschitz bound: the product of layer operator norms is penalised.

Usage: lipschitz_regressor.py [--width 256] [--beta 1e-3]
"""
import argparse
import logging

import numpy as np
import tensorflow as tf
from tensorflow import keras

logger = logging.getLogger("lipschitz")


class BoundedMLP(keras.Model):
    def __init__(self, width, depth, beta):
        super().__init__()
        self.beta = beta
        self.blocks = [keras.layers.Dense(width, activation="elu") for _ in range(depth)]
        self.head = keras.layers.Dense(1)
        self.bound = keras.metrics.Mean(name="bound")

    def build(self, input_shape):
        width = input_shape[-1]
        rng = np.random.default_rng(0)
        self.probes = []
        for layer in self.blocks:
            layer.build((None, width))
            width = layer.units
            self.probes.append(self.add_weight(
                shape=(width, 1), trainable=False, name="probe",
                initializer=keras.initializers.Constant(rng.normal(size=(width, 1)))))
        self.head.build((None, width))
        super().build(input_shape)

    def call(self, x):
        for layer in self.blocks:
            x = layer(x)
        return self.head(x)

    def operator_norm(self, kernel, probe):
        u = tf.convert_to_tensor(probe)
        for _ in range(3):
            v = tf.math.l2_normalize(tf.matmul(kernel, u))
            u = tf.math.l2_normalize(tf.matmul(kernel, v, transpose_a=True))
        u, v = tf.stop_gradient(u), tf.stop_gradient(v)
        probe.assign(u)
        return tf.reduce_sum(v * tf.matmul(kernel, u))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            fit = tf.reduce_mean(tf.square(self(x, training=True) - y))
            log_bound = 0.0
            for layer, probe in zip(self.blocks, self.probes):
                log_bound += tf.math.log(self.operator_norm(layer.kernel, probe))
            loss = fit + self.beta * tf.nn.softplus(log_bound)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.bound.update_state(tf.exp(log_bound))
        return {"mse": fit, "bound": self.bound.result()}

    def test_step(self, data):
        x, y = data
        return {"mse": tf.reduce_mean(tf.square(self(x, training=False) - y))}


def friedman(n, rng, dims=10, noise=0.5):
    x = rng.random((n, dims))
    y = (10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
         + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(0, noise, n))
    return x.astype("float32"), ((y - 14.4) / 5.0).astype("float32")[:, None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=6400)
    parser.add_argument("--width", type=int, default=160)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--beta", type=float, default=1e-3)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    x, y = friedman(args.samples, rng)
    xv, yv = friedman(1024, rng)

    model = BoundedMLP(args.width, args.depth, args.beta)
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    hist = model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs,
                     validation_data=(xv, yv), validation_batch_size=1024, verbose=0)
    for e in range(args.epochs):
        logger.info("epoch %d mse %.4f bound %.1f val %.4f", e + 1, hist.history["mse"][e],
                    hist.history["bound"][e], hist.history["val_mse"][e])
    eps = rng.normal(0, 1e-2, xv.shape).astype("float32")
    change = np.abs(model.predict(xv + eps, verbose=0) - model.predict(xv, verbose=0))[:, 0]
    logger.info("largest observed slope %.2f", (change / np.linalg.norm(eps, axis=1)).max())


if __name__ == "__main__":
    main()
