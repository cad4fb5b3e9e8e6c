"""Seq2seq trajectory forecasting: encode an observed track, roll a decoder out for T steps.

python trajectory_decoder.py --horizon 320
"""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def simulate_tracks(n, length, rng):
    """Noisy pedestrians with slowly turning headings."""
    heading = rng.uniform(0, 2 * np.pi, (n, 1)) + np.cumsum(rng.normal(0, 0.05, (n, length)), axis=1)
    speed = rng.uniform(0.05, 0.15, (n, 1))
    step = np.stack([np.cos(heading), np.sin(heading)], -1) * speed[..., None]
    return (np.cumsum(step, axis=1) + rng.normal(0, 0.01, step.shape)).astype("float32")


class Forecaster(tf.Module):
    def __init__(self, units, horizon):
        super().__init__()
        self.horizon = horizon
        self.encoder = keras.layers.GRU(units, return_state=True)
        self.cell = keras.layers.GRUCell(units)
        self.head = keras.layers.Dense(2)

    def build(self, sample):
        _, state = self.encoder(sample)
        out, _ = self.cell(sample[:, -1], state)
        self.head(out)

    @property
    def weights(self):
        return (self.encoder.trainable_variables + self.cell.trainable_variables
                + self.head.trainable_variables)

    def rollout(self, observed):
        _, state = self.encoder(observed)
        position = observed[:, -1]
        states = tf.TensorArray(tf.float32, self.horizon)
        track = tf.TensorArray(tf.float32, self.horizon)
        for t in tf.range(self.horizon):
            out, state = self.cell(position, state)
            position = position + self.head(out)
            track = track.write(t, position)
            states = states.write(t, out)
        return tf.transpose(track.stack(), [1, 0, 2]), tf.transpose(states.stack(), [1, 0, 2])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tracks", type=int, default=1152)
    ap.add_argument("--observed", type=int, default=20)
    ap.add_argument("--horizon", type=int, default=320)
    ap.add_argument("--units", type=int, default=64)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=2)
    args = ap.parse_args()

    keras.utils.set_random_seed(0)
    tracks = simulate_tracks(args.tracks, args.observed + args.horizon, np.random.default_rng(0))
    tracks -= tracks[:, args.observed - 1 : args.observed]
    obs, fut = tracks[:, : args.observed], tracks[:, args.observed :]
    n_val = 128
    ds = (tf.data.Dataset.from_tensor_slices((obs[n_val:], fut[n_val:]))
          .shuffle(2048, seed=0).batch(args.batch, drop_remainder=True).prefetch(2))

    net = Forecaster(args.units, args.horizon)
    net.build(tf.constant(obs[:2]))
    opt = keras.optimizers.Adam(2e-3, clipnorm=1.0)
    opt.build(net.weights)

    def objective(x, y):
        track, states = net.rollout(x)
        smooth = tf.reduce_mean(tf.square(states[:, 1:] - states[:, :-1]))
        return tf.reduce_mean(tf.square(track - y)) + 1e-2 * smooth

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = objective(x, y)
        opt.apply_gradients(zip(tape.gradient(loss, net.weights), net.weights))
        return loss

    @tf.function
    def displacement(x, y):
        track, _ = net.rollout(x)
        err = tf.norm(track - y, axis=-1)
        return tf.reduce_mean(err), tf.reduce_mean(err[:, -1])

    for epoch in range(args.epochs):
        t0 = time.time()
        losses = [train_step(x, y) for x, y in ds]
        ade, fde = displacement(obs[:n_val], fut[:n_val])
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} ADE {ade:.3f} FDE {fde:.3f} "
              f"({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
