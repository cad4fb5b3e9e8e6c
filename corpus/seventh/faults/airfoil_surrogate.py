#!/usr/bin/env python
"""Surrogate for a wing-section pressure field: (shape params, angle, mach) -> 240 Cp values."""
import argparse
import time

import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx("float64")


def cp_curve(params, n_points=240):
    """A cheap analytic stand-in for the panel solver."""
    x = np.linspace(1e-3, 1.0, n_points)[None]
    thick, camber, pos, alpha, mach = [params[:, i : i + 1] for i in range(5)]
    suction = -(4 * thick + 6 * alpha) * np.sqrt(x) * np.exp(-x / (0.1 + 0.3 * pos))
    hump = -camber * 8 * np.sin(np.pi * x ** (0.6 + pos))
    shock = 0.6 * mach ** 4 * np.tanh((x - 0.3 - 0.5 * mach * pos) * 25)
    return (suction + hump + shock) / np.sqrt(1 - mach ** 2)


def sample_designs(n, seed):
    rng = np.random.default_rng(seed)
    low = np.array([0.06, 0.0, 0.2, -0.05, 0.2])
    high = np.array([0.18, 0.06, 0.6, 0.15, 0.75])
    return low + (high - low) * rng.random((n, 5))


def mlp(width, depth, n_out):
    inputs = tf.keras.Input((5,))
    x = tf.keras.layers.Dense(width, activation="swish")(inputs)
    for _ in range(depth):
        h = tf.keras.layers.Dense(width, activation="swish")(x)
        h = tf.keras.layers.Dense(width)(h)
        x = tf.keras.layers.Add()([x, h])
        x = tf.keras.layers.Activation("swish")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(n_out)(x))


def main(argv=None):
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--designs", type=int, default=8192)
    ap.add_argument("--width", type=int, default=512)
    ap.add_argument("--depth", type=int, default=3)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=256)
    args = ap.parse_args(argv)
    tf.keras.utils.set_random_seed(5)

    x_train, x_test = sample_designs(args.designs, 1), sample_designs(1024, 2)
    y_train, y_test = cp_curve(x_train), cp_curve(x_test)
    mean, std = y_train.mean(0), y_train.std(0) + 1e-8
    norm = tf.keras.layers.Normalization()
    norm.adapt(x_train)
    x_train, x_test = norm(x_train).numpy(), norm(x_test).numpy()

    model = mlp(args.width, args.depth, y_train.shape[1])
    steps = args.designs // args.batch * args.epochs
    schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, steps)
    model.compile(optimizer=tf.keras.optimizers.Adam(schedule), loss="mse")

    start = time.time()
    history = model.fit(x_train, (y_train - mean) / std, batch_size=args.batch,
                        epochs=args.epochs, validation_split=0.1, verbose=0)
    print(f"{steps} steps in {time.time() - start:.1f}s, "
          f"val loss {history.history['val_loss'][-1]:.5f}")

    pred = model.predict(x_test, batch_size=1024, verbose=0) * std + mean
    err = np.sqrt(np.mean((pred - y_test) ** 2, axis=1))
    lift = np.trapezoid(-y_test, axis=1) if hasattr(np, "trapezoid") else np.trapz(-y_test, axis=1)
    print(f"rmse median {np.median(err):.4f}  p95 {np.percentile(err, 95):.4f}  "
          f"mean lift proxy {lift.mean():.2f}")


if __name__ == "__main__":
    main()
